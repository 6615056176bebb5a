"""Vectors: questions in files, each with the answer that it must have, whatever they are about.

vector  what a vector is
index   the index of a folder of vectors
folder  a folder of vectors: read, written, and held against what has to be in it
"""
