// Shows that kernels can be compiled and run.
KERNEL void probe(double *answer)
{
    EACH(k, 0, 1) answer[k] = 42.0;
}
