// Lays one axis out longer by one: table[outer, size, inner] becomes [outer, size + 1, inner], the
// new last entry being the sum of the others. This turns a digit of a joint table into one that can
// be unknown.
KERNEL void expand(const double *table, double *longer, place outer, place size, place inner)
{
    place n = outer * inner;
    for (place k = blockIdx.x * (place)blockDim.x + threadIdx.x; k < n;
         k += (place)gridDim.x * blockDim.x) {
        place o = k / inner, i = k % inner;
        const double *from = table + o * size * inner + i;
        double *to = longer + o * (size + 1) * inner + i, sum = 0.0;
        for (place v = 0; v < size; v++) {
            sum += from[v * inner];
            to[v * inner] = from[v * inner];
        }
        to[size * inner] = sum;
    }
}
