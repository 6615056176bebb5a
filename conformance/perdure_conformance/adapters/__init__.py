"""What an author of an adapter starts with.

skeletons/  a folder for each language: an adapter, and a small file journal to be replaced
new         writes one of them
model       the model as a good journal that an author may claim as much as, or less
smoke       a few scripts within seconds, and the first thing to mend
exchange    a recorded exchange to develop against
"""
