"""The parts of the fuzzing harness: hostile inputs, what they are fed to, what is an acceptable answer, and who watches.

Every input follows from a target, a seed and a number, so that a find can be made again from these three.
"""
