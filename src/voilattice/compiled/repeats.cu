// The values W of the bound "once or repeatedly" (`optimal.search.bounds.repeat_values`), on a GPU.
//
// One block of threads solves W(m, .) for one number m of counts; threads share the points of the
// grid. What buying from a pool leads to is solved already. As in ``plain.cu``, the same source is
// compiled for the host in the tests, where a block has one thread.

typedef struct {  // `RepeatSteps`
    place n_features, n_pools, n_points, max_corners;
    const double *prices;
    const place *pools, *strides, *sizes, *group_of;
    const double *surcharges;
    const place *group_pools, *n_corners;
    const int *corners;
    const double *weights, *risk;
} Steps;

// The least price of feature i when m was bought.
FUNCTION double price_of(const Steps *s, place i, place m)
{
    place group = s->group_of[i];
    if (group < 0) return s->prices[i];
    for (place k = 0; k < s->n_pools; k++)
        if (s->group_pools[group * s->n_pools + k] && m / s->strides[k] % (s->sizes[k] + 1))
            return s->prices[i];
    return s->prices[i] + s->surcharges[i];
}

// E W(b') after feature i at grid point g.
FUNCTION double expect(const Steps *s, place i, place g, const double *below)
{
    const double *weights = s->weights + i * s->max_corners * s->n_points + g;
    const int *corners = s->corners + i * s->max_corners * s->n_points + g;
    double sum = 0.0;
    for (place j = 0; j < s->n_corners[i]; j++)
        sum += weights[j * s->n_points] * below[corners[j * s->n_points]];
    return sum;
}

// The largest of a number of each thread. All threads get it.
FUNCTION double largest(double mine, double *partial)
{
    SYNC;
    partial[threadIdx.x] = mine;
    SYNC;
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half && partial[threadIdx.x + half] > partial[threadIdx.x])
            partial[threadIdx.x] = partial[threadIdx.x + half];
        SYNC;
    }
    return partial[0];
}

KERNEL void solve_counts(const Steps *given, const place *counts, double tolerance,
                         place max_rounds, place n_sweeps, double *out)
{
    SHARED_ROOM(double, room);  // the values of the recursion; one number of each thread
    const Steps s = *given;
    const place m = counts[blockIdx.x];
    const int n_points = (int)s.n_points;
    double *base = room, *upper = base + n_points, *after = upper + n_points;
    double *partial = after + n_points;
    int *act = (int *)(partial + blockDim.x);
    double cheapest = NEVER, worst = 0.0;
    for (place i = 0; i < s.n_features; i++)
        if (s.pools[i] < 0 && s.prices[i] < cheapest) cheapest = s.prices[i];
    const double enough = tolerance * cheapest;

    // Decide, or buy from a pool.
    EACH(g, 0, n_points) {
        double best = s.risk[g], least = s.risk[g];
        for (place i = 0; i < s.n_features; i++) {
            place k = s.pools[i];
            if (k < 0 || m / s.strides[k] % (s.sizes[k] + 1) >= s.sizes[k]) continue;
            const double *below = out + (m + s.strides[k]) * n_points;
            double q = price_of(&s, i, m) + expect(&s, i, g, below);
            best = q < best ? q : best;
            least = below[g] < least ? below[g] : least;
        }
        base[g] = best;
        upper[g] = least < best ? least : best;
        after[g] = best;
    }
    SYNC;

    // Buy what can be bought any number of times: rounds from above, sweeps along the best steps.
    for (place left = cheapest < NEVER ? max_rounds - 1 : -1; left >= 0; left--) {
        double mine = 0.0;
        EACH(g, 0, n_points) {
            double best = base[g];
            int step = -1;
            for (place i = 0; i < s.n_features; i++) {
                if (s.pools[i] >= 0) continue;
                double q = price_of(&s, i, m) + expect(&s, i, g, upper);
                if (q < best) { best = q; step = (int)i; }
            }
            after[g] = best;
            act[g] = step;
            mine = upper[g] - best > mine ? upper[g] - best : mine;
        }
        worst = largest(mine, partial);
        if (worst <= enough || left == 0) break;
        EACH(g, 0, n_points) upper[g] = after[g];
        SYNC;
        for (place sweep = 0; sweep < n_sweeps; sweep++) {
            mine = 0.0;
            EACH(g, 0, n_points) {
                after[g] = upper[g];
                if (act[g] < 0) continue;
                double q = price_of(&s, act[g], m) + expect(&s, act[g], g, upper);
                after[g] = q < base[g] ? q : base[g];
                double moved = after[g] > upper[g] ? after[g] - upper[g] : upper[g] - after[g];
                mine = moved > mine ? moved : mine;
            }
            double moved = largest(mine, partial);
            EACH(g, 0, n_points) upper[g] = after[g];
            SYNC;
            if (moved <= 0.5 * enough) break;
        }
    }

    // A lower bound: T U, scaled down by the worst decrease.
    double share = worst > 0.0 ? cheapest / (cheapest + worst) : 1.0;
    EACH(g, 0, n_points) out[m * n_points + g] = share * after[g];
}
