"""What do others say of these graphs? Reads graphs as JSON, writes their scores as JSON.

Rankings are solved as linear equations, hubs and authorities by eigenvectors; networkx must agree
wherever its answer is unique.
"""

import json
import sys

import networkx
import numpy

AGREE = 1e-9


def main():
    json.dump([answer(graph) for graph in json.load(sys.stdin)], sys.stdout)


def answer(graph):
    links = numpy.zeros((graph["nodes"], graph["nodes"]))
    for source, target in graph["links"]:
        links[source, target] = links[source, target] + 1 if graph["each"] else 1
    web = networkx.from_numpy_array(links, create_using=networkx.DiGraph)
    everywhere = numpy.ones(graph["nodes"])
    good = numpy.zeros(graph["nodes"])
    good[graph["good"]] = 1
    hubs, authorities = hits(web, links)
    return {
        "indegree": links.sum(axis=0).tolist(),
        "pagerank": rank(web, links, graph["damping"], everywhere),
        "personal": rank(web, links, graph["damping"], numpy.array(graph["weights"])),
        "trust": rank(web, links, graph["damping"], good),
        "distrust": rank(web.reverse(), links.T, graph["damping"], good),
        "hubs": hubs,
        "authorities": authorities,
    }


def rank(web, links, damping, weights):
    weights = weights / weights.sum()
    degrees = links.sum(axis=1)
    steps = numpy.where(degrees[:, None] > 0, links / numpy.maximum(degrees, 1)[:, None], weights)
    nodes = len(links)
    solved = numpy.linalg.solve(numpy.eye(nodes) - damping * steps.T, (1 - damping) * weights)
    jumps = dict(enumerate(weights))
    theirs = networkx.pagerank(web, damping, personalization=jumps, tol=1e-13 / nodes, max_iter=100_000)
    agree("pagerank", [theirs[node] for node in range(nodes)], solved)
    return solved.tolist()


def hits(web, links):
    """What going back and forth from equal hubs ends with: their part in the leading eigenspace."""
    values, vectors = numpy.linalg.eigh(links @ links.T)
    leading = vectors[:, values > values[-1] * (1 - 1e-9)]
    hubs = leading @ (leading.T @ numpy.ones(len(links)))
    authorities = links.T @ hubs
    hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    if leading.shape[1] == 1 and len(links) > 2:
        their_hubs, their_authorities = networkx.hits(web, max_iter=100_000, tol=0)
        agree("hubs", [their_hubs[node] for node in range(len(links))], hubs)
        agree("authorities", [their_authorities[node] for node in range(len(links))], authorities)
    return hubs.tolist(), authorities.tolist()


def agree(what, theirs, ours):
    off = numpy.abs(numpy.array(theirs) - ours).max()
    if off > AGREE:
        sys.exit(f"networkx and numpy differ over {what}, by {off}")


main()
