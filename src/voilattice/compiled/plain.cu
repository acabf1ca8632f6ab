// The recursion of the optimal policy over a plain table (`optimal.exact.plain`), on a GPU.
//
// A state is a number with one digit for each feature: its value, or `size` if it is unknown. A tile
// holds the states that agree in the slow digits; one block of threads solves one tile. Tiles with
// one unknown slow digit fewer are solved already.
//
// The same source is compiled for the host in the tests, where a block has one thread. Therefore all
// loops over states are written with EACH, and SYNC stands wherever threads read what others wrote.
//
// Given when it is compiled: VALUE, the type in which V is stored (all arithmetic is in 64 bits);
// CLASSES and DECISIONS; SIZE, the number of values of every digit, or 0 if the digits differ.

#define MAX_DIGITS 64
#define SIZE_OF(i) (SIZE ? SIZE : t.sizes[i])

typedef struct {
    int n_digits, n_slow;
    int tile_states;  // states of a tile
    int tile_cells;   // of them, those with all digits known
    int n_levels;     // a level: the states of a tile with equally many unknown digits
    const int *sizes;         // of each digit
    const place *steps;       // of each digit in the whole table
    const int *level_first;   // where each level begins in `level_state`
    const int *level_state;   // the states of a tile by level
    const int *cell;          // where P(y, e) of a state with all digits known lies
    const int *sum_digit;     // of a state with unknown digits: the first of these
    const unsigned *unknown;  // a bit for each unknown digit of the tile, the first one lowest
    const double *cost;       // c_dj
    const double *own;        // prices, as in `DigitPrices`
    const place *price_start;
    const place *price_step;
    const int *group_of;
    const double *surcharge;
    const unsigned char *place_varies, *open_varies;
    const int *price_place;        // [digit, state of a tile]
    const unsigned char *is_open;  // [digit, state of a tile]
} Table;

// The price of digit i at state s of a tile: `flat` if it is the same in the whole tile, else -1.
FUNCTION double price_at(const Table *t, int i, int s, double flat, place base, double extra)
{
    if (flat >= 0.0) return flat;
    int k = i * t->tile_states + s;
    return t->own[base + t->price_place[k]] + extra * t->is_open[k];
}

// Writes V of some tiles. `parts` is P(y, e) of the states whose digits inside the tile are known:
// [tile, class, cell].
TILE_KERNEL void solve_tiles(const Table *given, const place *tiles, const double *parts,
                             VALUE *value)
{
    SHARED_ROOM(double, room);  // P(y, e) for each class; P(e)
    SHARED place base[MAX_DIGITS], away[MAX_DIGITS], step_of[MAX_DIGITS];
    SHARED double extra[MAX_DIGITS], flat[MAX_DIGITS];
    SHARED int slow[MAX_DIGITS], n_unknown;
    const Table t = *given;
    const int a = t.n_slow, n_states = t.tile_states;
    const place tile = tiles[blockIdx.x], start = tile * n_states;
    double *mass = room + CLASSES * n_states, *here = room;  // V takes the place of P(y_0, e)

    // What the slow digits say about each price.
    EACH(i, 0, t.n_digits) {
        place left = tile, at = t.price_start[i];
        double due = t.group_of[i] >= 0 ? t.surcharge[i] : 0.0;
        for (int d = a - 1; d >= 0; d--) {
            int size = SIZE_OF(d), digit = (int)(left % (size + 1));
            left /= size + 1;
            at += t.price_step[i * t.n_digits + d] * digit;
            if (t.group_of[i] >= 0 && t.group_of[d] == t.group_of[i] && digit < size) due = 0.0;
        }
        base[i] = at;
        extra[i] = due;
        int varies = t.place_varies[i] || (t.open_varies[i] && due > 0.0);
        flat[i] = varies ? -1.0 : t.own[at] + due;  // the same in the whole tile, or -1
        step_of[i] = t.steps[i];
    }
    if (threadIdx.x == 0) {
        place left = tile;
        n_unknown = 0;
        for (int d = a - 1; d >= 0; d--) {
            int size = SIZE_OF(d);
            if (left % (size + 1) == size) {
                away[n_unknown] = start - size * t.steps[d];  // the child for the first value
                slow[n_unknown++] = d;
            }
            left /= size + 1;
        }
    }

    // P(y, e): read where all digits are known; else a sum over the values of an unknown digit.
    EACH(k, 0, t.level_first[1]) {
        int s = t.level_state[k];
        for (int j = 0; j < CLASSES; j++)
            room[j * n_states + s] = parts[(tile * CLASSES + j) * t.tile_cells + t.cell[s]];
    }
    SYNC;
    for (int level = 1; level < t.n_levels; level++) {
        EACH(k, t.level_first[level], t.level_first[level + 1]) {
            int s = t.level_state[k], i = t.sum_digit[s];
            int size = SIZE_OF(i), step = (int)step_of[i];
            for (int j = 0; j < CLASSES; j++) {
                const double *from = room + j * n_states + s - size * step;
                double sum = 0.0;
                for (int v = 0; v < size; v++) sum += from[v * step];
                room[j * n_states + s] = sum;
            }
        }
        SYNC;
    }

    // Decide now, or acquire a slow digit: its children lie in other tiles, side by side.
    EACH(s, 0, n_states) {
        double p = 0.0, best = 0.0;
        for (int j = 0; j < CLASSES; j++) p += room[j * n_states + s];
        for (int d = 0; d < DECISIONS; d++) {
            double risk = 0.0;
            for (int j = 0; j < CLASSES; j++)
                risk += t.cost[d * CLASSES + j] * room[j * n_states + s];
            best = d == 0 || risk < best ? risk : best;
        }
        UNROLL
        for (int u = 0; u < n_unknown; u++) {
            int i = slow[u];
            place step = step_of[i];
            const VALUE *child = value + away[u] + s;
            double after = 0.0;
            for (int v = 0; v < SIZE_OF(i); v++) after += child[v * step];
            double q = price_at(&t, i, s, flat[i], base[i], extra[i]) * p + after;
            best = q < best ? q : best;
        }
        mass[s] = p;
        here[s] = best;
    }
    SYNC;

    // Acquire a digit of the tile.
    for (int level = 1; level < t.n_levels; level++) {
        EACH(k, t.level_first[level], t.level_first[level + 1]) {
            int s = t.level_state[k];
            double best = here[s], p = mass[s];
            for (unsigned left = t.unknown[s]; left; left &= left - 1) {
                int i = a + LOWEST_BIT(left), size = SIZE_OF(i), step = (int)step_of[i];
                const double *child = here + s - size * step;
                double after = 0.0;
                for (int v = 0; v < size; v++) after += child[v * step];
                double q = price_at(&t, i, s, flat[i], base[i], extra[i]) * p + after;
                best = q < best ? q : best;
            }
            here[s] = best;
        }
        SYNC;
    }
    EACH(s, 0, n_states) value[start + s] = (VALUE)here[s];
}
