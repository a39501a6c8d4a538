"""The types of ``button_box``."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool

cdef extern from "button_box.h" nogil:
    cdef cppclass ButtonBox:
        uint64_t now_us
        char *said
        unsigned int length, hz
        bool *lamps
        bool *pads
        char *name
        void keep_name(const char *kept)
        void start(const char *name, uint16_t boot, uint8_t closed, uint8_t cause)
        void edge(uint8_t i, bool closed, uint32_t now_us)
        bool ready()
        void take(char c)
        void poll()
    int LAMPS

cdef class Firmware:
    cdef ButtonBox box
    cdef bytes _said(self)
