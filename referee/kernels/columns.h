/* Eight columns of a row at once, and room in memory: what Python's syntax has no words for.
 *
 * GCC and Clang know vectors of their own and make of them what the processor has (SSE, AVX, NEON); other compilers
 * get the same steps as plain loops. No sum is taken in another order and nothing is fused, so that the bits are the
 * same everywhere. ``load`` and ``store`` reach up to seven columns beyond the last one asked for.
 */
#ifndef REFEREE_COLUMNS_H
#define REFEREE_COLUMNS_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(REFEREE_PLAIN)
#ifdef __AVX2__
#define LANES 1  /* of 256 bits */
#define EIGHT(a, b, c, d, e, f, g, h) ((Columns){{{a, b, c, d, e, f, g, h}}})
#define EACH(type, lane) { enum { i = 0 }; type out; out.at[i] = (lane); return out; }
#else
#define LANES 2  /* of 128 bits, what every x86-64 and every 64-bit ARM has */
#define EIGHT(a, b, c, d, e, f, g, h) ((Columns){{{a, b, c, d}, {e, f, g, h}}})
/* Each lane by a constant index, so that it stays in a register. */
#define EACH(type, lane) \
    { type out; { enum { i = 0 }; out.at[i] = (lane); } { enum { i = 1 }; out.at[i] = (lane); } return out; }
#endif
typedef float Lane __attribute__((vector_size(32 / LANES)));
typedef int32_t MaskLane __attribute__((vector_size(32 / LANES)));
#define ABOVE(a, b) ((a) > (b))
#define PICK(where, a, b) ((Lane)(((MaskLane)(a) & (where)) | ((MaskLane)(b) & ~(where))))
#define ONLY(where, a) ((Lane)((MaskLane)(a) & (where)))
#else
#define LANES 8
typedef float Lane;
typedef int32_t MaskLane;
#define ABOVE(a, b) (-((a) > (b)))
#define PICK(where, a, b) ((where) ? (a) : (b))
#define ONLY(where, a) ((where) ? (a) : 0.0f)
#define EIGHT(a, b, c, d, e, f, g, h) ((Columns){{a, b, c, d, e, f, g, h}})
#define EACH(type, lane) { type out; for (int i = 0; i < LANES; i++) out.at[i] = (lane); return out; }
#endif
typedef struct { Lane at[LANES]; } Columns;
typedef struct { MaskLane at[LANES]; } Mask;  /* all ones where something holds */
static inline Columns load(const float *from) { Columns v; memcpy(&v, from, sizeof v); return v; }
static inline void store(float *to, Columns v) { memcpy(to, &v, sizeof v); }
static inline Columns alike(float a) { return EIGHT(a, a, a, a, a, a, a, a); }
static inline Columns plus(Columns a, Columns b) EACH(Columns, a.at[i] + b.at[i])
static inline Columns minus(Columns a, Columns b) EACH(Columns, a.at[i] - b.at[i])
static inline Columns times(Columns a, Columns b) EACH(Columns, a.at[i] * b.at[i])
static inline Mask above(Columns a, Columns b) EACH(Mask, ABOVE(a.at[i], b.at[i]))
static inline Columns pick(Mask where, Columns a, Columns b) EACH(Columns, PICK(where.at[i], a.at[i], b.at[i]))
static inline Columns only(Mask where, Columns a) EACH(Columns, ONLY(where.at[i], a.at[i]))
static inline Columns least(Columns a, Columns b) { return pick(above(b, a), a, b); }
static inline Mask both(Mask a, Mask b) EACH(Mask, a.at[i] & b.at[i])
static inline Mask counted(Mask sum, Mask where) EACH(Mask, sum.at[i] - where.at[i])
static inline Mask nowhere(void) { Mask none; memset(&none, 0, sizeof none); return none; }
static inline Columns numbered(int64_t first) { return plus(alike((float)first), EIGHT(0, 1, 2, 3, 4, 5, 6, 7)); }
/* The columns up to the last, of those from ``first`` on. */
static inline Mask up_to(int64_t last, int64_t first) {
    return above(alike((float)(last - first) + 0.5f), EIGHT(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline float sum_of(Columns v) {
    float at[8];
    store(at, v);
    return ((at[0] + at[4]) + (at[2] + at[6])) + ((at[1] + at[5]) + (at[3] + at[7]));
}
static inline int64_t number_of(Mask counts) {
    int32_t at[8];
    memcpy(at, &counts, sizeof at);
    return (int64_t)at[0] + at[1] + at[2] + at[3] + at[4] + at[5] + at[6] + at[7];
}

/* Whole numbers not below, and not above, a number; without a call into the C library, which older processors need. */
static inline int64_t ceiling(double x) { int64_t k = (int64_t)x; return k + (k < x); }
static inline int64_t flooring(double x) { int64_t k = (int64_t)x; return k - (k > x); }

/* Labels of four pixels (B, G, R) by the table's cells at their upper bits. A byte beyond the last is read. */
static inline void label_four(const uint8_t *pixels, uint32_t shift, const int8_t *table, int8_t *labels) {
    const uint32_t bits = 8 - shift, upper = 255u >> shift;
    uint32_t at[4];
    for (int i = 0; i < 4; i++) memcpy(at + i, pixels + 3 * i, 4);
#if LANES < 8
    uint32_t four __attribute__((vector_size(16)));
    uint64_t two[2];
    memcpy(&four, at, sizeof four);
    four = (four >> shift & upper) << 2 * bits | (four >> (8 + shift) & upper) << bits | (four >> (16 + shift) & upper);
    memcpy(two, &four, sizeof two);  /* two cells by one move out of the vector */
    for (int i = 0; i < 4; i++) labels[i] = table[(uint32_t)(two[i / 2] >> 32 * (i % 2))];
#else
    for (int i = 0; i < 4; i++)
        labels[i] = table[(at[i] >> shift & upper) << 2 * bits | (at[i] >> (8 + shift) & upper) << bits |
                          (at[i] >> (16 + shift) & upper)];
#endif
}

/* So many bytes, to be given back by ``free``; without memory the program ends, as it does elsewhere. */
static inline void *room(int64_t bytes) {
    void *got = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (!got) { fputs("out of memory\n", stderr); abort(); }
    return got;
}
#endif
