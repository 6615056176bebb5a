"""What an author of an adapter starts with.

skeletons/  a folder for each language: an adapter, and a small file journal to be replaced
new         writes one of them
smoke       a few scripts within seconds, and the first thing to mend
"""
