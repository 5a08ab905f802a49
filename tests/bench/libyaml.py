# Prints how many seconds libyaml alone takes to read a file, the best of a few runs: `libyaml.py FILE RUNS`. PyYAML has libyaml in it, and its
# `raw_parse` makes no objects of Python.
# What must not be here: what is made of the text.

import sys
import time

from yaml.cyaml import CParser


def read(text):
    start = time.perf_counter()
    CParser(text).raw_parse()
    return time.perf_counter() - start


with open(sys.argv[1], "rb") as file:
    text = file.read()
print(min(read(text) for _ in range(int(sys.argv[2]))))
