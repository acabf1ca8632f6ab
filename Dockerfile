# The advisor's server, from packages of the registry alone.
#
#     docker build -t voilattice .
#     docker run --rm -p 127.0.0.1:8770:8770 voilattice --allow-host advisor.example
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    NUMBA_CACHE_DIR=/var/cache/voilattice

WORKDIR /app
COPY requirements.txt ./
RUN pip install -r requirements.txt

COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip install --no-deps --no-build-isolation . \
    && useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin voilattice \
    && mkdir -p /var/cache/voilattice /data \
    && chown voilattice /var/cache/voilattice /data

USER 10001
# The kernels are compiled here, once, and not at the first question of each container.
RUN voilattice warm

EXPOSE 8770
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8770/health', timeout=4)"]
ENTRYPOINT ["voilattice", "serve", "--host", "0.0.0.0"]
