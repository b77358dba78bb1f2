"""A graph of your own: which states of the USA touch which, and nothing else, is enough to draw the map.

python examples/a_graph_of_your_own.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import lowdim

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# Each state with its neighbours that have not been named before. No place, no distance: only borders.
BORDERS = """
WA:OR,ID OR:ID,NV,CA CA:NV,AZ NV:ID,UT,AZ ID:MT,WY,UT AZ:UT,NM,CO UT:WY,CO,NM MT:ND,SD,WY WY:SD,NE,CO CO:NE,KS,OK,NM
NM:OK,TX ND:MN,SD SD:MN,IA,NE NE:IA,MO,KS KS:MO,OK OK:MO,AR,TX TX:AR,LA MN:WI,IA IA:WI,IL,MO MO:IL,KY,TN,AR AR:TN,MS,LA
LA:MS WI:MI,IL IL:IN,KY MI:IN,OH IN:OH,KY KY:OH,WV,VA,TN TN:VA,NC,GA,AL,MS MS:AL AL:GA,FL GA:NC,SC,FL SC:NC NC:VA
VA:WV,MD,DC WV:OH,PA,MD OH:PA PA:NY,NJ,DE,MD MD:DE,DC DE:NJ NJ:NY NY:VT,MA,CT VT:NH,MA NH:ME,MA MA:RI,CT CT:RI
"""
pairs = [(a, b) for a, others in (entry.split(":") for entry in BORDERS.split()) for b in others.split(",")]
states = sorted({state for pair in pairs for state in pair})
place = {state: i for i, state in enumerate(states)}
rows, columns = np.array([(place[a], place[b]) for a, b in pairs]).T

# A graph is a sparse matrix: an entry for each edge, in both directions. Weights may be any positive numbers.
graph = sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(states), len(states)))
graph = sparse.csr_array(graph + graph.T)

# metric="graph" says that the data are a graph: near things pull, all things push, and the country unfolds.
layout = lowdim.SymmetricSNE(2, metric="graph", random_state=0).fit_transform(graph)

# Every method that works on affinities takes the same graph: here it falls into five regions.
regions = lowdim.SpectralClustering(5, metric="graph", random_state=0).fit(graph).labels_

# An embedding knows no north: turn it by four states that everyone can place.
corners = {"WA": (-1.0, 0.6), "CA": (-1.0, -0.1), "FL": (0.7, -0.7), "ME": (1.0, 0.6)}
north_up = lowdim.procrustes(layout[[place[state] for state in corners]], list(corners.values()))
layout = layout @ north_up.rotation

picture = folder / "a_graph_of_your_own.png"
figure = lowdim.plot(layout, regions, title="The USA, from its borders alone", point_size=60, legend=False)
axes = figure.axes[0]
for a, b in zip(rows, columns, strict=True):
    axes.plot(*layout[[a, b]].T, color="#c8ccd2", linewidth=0.8, zorder=0)
for state, (x, y) in zip(states, layout, strict=True):
    axes.annotate(state, (x, y), xytext=(4, 4), textcoords="offset points", fontsize=6)
axes.set(xticks=[], yticks=[])
figure.savefig(picture)
print(f"{len(states)} states, {len(pairs)} borders. Look at {picture}: do you recognise it?")
