"""
Texts by their words
====================

Descriptions of SciPy's statistical functions, as sparse rows of word weights, compared by cosine.
"""

import inspect

import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer

import lowdim

found = [(name, inspect.getdoc(thing)) for name, thing in inspect.getmembers(scipy.stats, callable)]
names, texts = zip(*[(name, text) for name, text in found if text and len(text) > 300], strict=True)
words = TfidfVectorizer(stop_words="english", min_df=3).fit_transform(texts)
X = lowdim.TSNE(metric="cosine").fit_transform(words)
length = [len(text) for text in texts]

lowdim.plot(X, length, continuous=True, path="texts.png")
lowdim.plot(X, length, continuous=True, ids=names, title="scipy.stats, by words", path="texts.html")
