"""Recorded duels read and judged again: timelines, whole archives, imported videos, regression cases.

``timeline`` tells what happened (``placements`` finds the pieces); ``rejudge`` judges one attempt again, ``batch`` an
archive (on all cores; interrupted, it goes on), ``report`` says what would change.
Nothing recorded is altered by any of them.
"""
