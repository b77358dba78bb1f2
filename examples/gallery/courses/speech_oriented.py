"""
Vowels, whoever speaks: oriented PCA
====================================

It is told what differs between speakers, and shows what does not.
"""

import lowdim

speech = lowdim.datasets.two_speaker_cepstra(200)
model = lowdim.OrientedPCA(2).fit(speech.data, noise=speech.noise)

lowdim.plot(model.embedding_, speech.labels, path="speech_oriented.png")
lowdim.plot(
    model.embedding_, speech.labels, columns={"speaker": speech.speakers}, path="speech_oriented.html"
)
