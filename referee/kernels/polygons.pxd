cdef int cross(double[:, ::1] points, int count, int y, double *out) noexcept nogil
cdef void fill(double[:, ::1] points, int count, double *plane, int tag, float[:, ::1] inverse_depth, int[:, ::1] tags) noexcept nogil
