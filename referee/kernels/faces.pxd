cdef int add_around(float[:, :, ::1] features, int[:, ::1] faces, Py_ssize_t y, Py_ssize_t x, Py_ssize_t reach, Py_ssize_t step, float *total) noexcept nogil
