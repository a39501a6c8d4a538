from libc.stdint cimport int8_t, uint8_t, uint32_t

cdef extern from "columns.h" nogil:
    void label_four(uint8_t *pixels, uint32_t shift, int8_t *table, int8_t *labels)

cdef int apart(unsigned char *a, unsigned char *b) noexcept nogil
