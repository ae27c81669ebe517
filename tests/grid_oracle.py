"""Cells split onto a grid of posteriors, in whole numbers: an upper end of the envelope that needs no dual.

Write N for the fineness of the grid. A cell with counts c_1, …, c_m > 0 (of the secrets that occur in it) and
n = Σ c_i has the posterior c/n. With the sums C_i = c_i + … + c_m, divide N·C_i = q_i·n + r_i. Sort the indices by
falling r_i, those of equal r_i by i, and let the vertex u^k be q + 1 at the first k of them and q elsewhere. Its mass
is r_(k) − r_(k+1), with r_(0) = n and r_(m+1) = 0. (This is the triangulation of Freudenthal and Kuhn.)

- The masses are whole, not negative, and add up to n.
- Σ_k mass_k·u^k_i = n·q_i + r_i = N·C_i, since i is raised at masses that add up to r_i.
- A vertex of positive mass has u_i ≥ u_{i+1}: q_i ≥ q_{i+1}, and where these are equal r_i > r_{i+1}, as C_i > C_{i+1},
  so that i is raised first. u_1 = N, since N·C_1 = N·n leaves no rest. So g_i = u_i − u_{i+1} (u_{m+1} = 0) are whole
  numbers ≥ 0 with sum N: g/N is a point of the grid, and Σ_k mass_k·g^k = N·c.

Released with its vertex, a cell becomes pieces of counts mass·g, which add up to N·c: a release of N times as many
people with the same priors, of which the true one is a post-processing (forget the vertex). Pieces of one posterior g/N
are then one cell, whichever cells they come from.
"""

from tightlip.auditing.tally import Tally


def pieces(counts, fineness):
    """Whole masses and grid points of one cell's counts, all positive."""
    total, size = sum(counts), len(counts)
    divided = [divmod(fineness * sum(counts[place:]), total) for place in range(size)]
    order = sorted(range(size), key=lambda place: (-divided[place][1], place))
    rests = [total, *(divided[place][1] for place in order), 0]
    heights, found = [quotient for quotient, _ in divided], []
    for step in range(size + 1):
        if step:
            heights[order[step - 1]] += 1
        mass = rests[step] - rests[step + 1]
        if mass:
            ends = [*heights[1:], 0]
            found.append((mass, tuple(high - low for high, low in zip(heights, ends, strict=True))))
    return found


def cells_of(tally):
    """{secret: count} of each cell."""
    found = [{} for _ in range(tally.shape[1])]
    for secret, cell, count in zip(
        tally.secret.tolist(), tally.cell.tolist(), tally.count.tolist(), strict=True
    ):
        found[cell][secret] = count
    return found


def split_cells(tally, fineness):
    """The release that tells more: every cell split onto the grid."""
    places, entries = {}, []
    for cell in cells_of(tally):
        for mass, point in pieces(list(cell.values()), fineness):
            posterior = tuple((secret, part) for secret, part in zip(cell, point, strict=True) if part)
            place = places.setdefault(posterior, len(places))
            entries += [(secret, place, mass * part) for secret, part in posterior]
    secret, cell, count = zip(*entries, strict=True)
    return Tally.of(secret, cell, count, (tally.shape[0], len(places)))


def group_cells(tally, fineness):
    """The release that tells less: cells merged whose nearest grid point, the vertex of most mass, is the same."""
    places, group = {}, []
    for cell in cells_of(tally):
        _, point = max(pieces(list(cell.values()), fineness))
        posterior = tuple(zip(cell, point, strict=True))
        group.append(places.setdefault(posterior, len(places)))
    return group
