"""The numbers of reading towers. Tuned on tables 100 to 103, 200 to 208, 309, 315, 317 and 341 of
``tests/witness/make_cities.py``; what they do on other rooms is what ``tests/games/bench_cities.py`` prints."""

from __future__ import annotations

HEIGHT_NATS = 150.0
"""By so much the number of storeys must be ahead of every other number."""
COLOR_NATS = 150.0
"""By so much a storey's colour must be ahead of every other colour: a tower drawn a pixel off gives a storey one row of
its neighbour's pixels, 24 across a stone's side at six nats each."""
ALLOWED_NATS = 250.0
"""Up to here behind the best reading, a tower that is on record may be what the pictures show: a storey too many or too
few in full view is 400 behind and more."""
SEEN_PX = 25.0
"""A storey of which fewer pixels are seen, in all pictures together, is hidden."""
TOP_SHARE = 0.8
"""So much of a stone's top face, in mm² of the sheet's scale, the topmost storey must show in all pictures together:
what shows less is a sliver between other towers, and may be their glow."""
EDGE_MM, MIDDLE_MM = 6.0, 4.0
"""A tower whose lowest storey is that far off its site's middle is no tower of it, or not where it was sought; but
where all that is seen of it is on average no further off than the second, its lowest one is what was not found:
hidden, or slipped. Of 911 towers of tables 200 to 202 and 420 to 519 that were right three began further off than 6,
and those lay up to 2.7 off on average; of 26 readings of paper, or of another height, that did and slipped no further
than a tower's storeys do, the nearest lay 4.8 off."""
SLIP_MM = 5.0
"""A storey that seems to lie so far off the one below is none: glow on paper, sought where it is. Of the towers of
tables 420 to 459 no storey was read more than 4.5 off, and none lay more than 1.7."""
FIRST_SLIP_MM, FIRST_SLIP_NATS = 3.5, 8.0
"""A second storey that seems to slip so far off the lowest may be right and the lowest sought on shaded paper: its
paint must be that far ahead. Of 40 of 1201 towers with a first slip of 3 mm and more, 8 had a wrong lowest colour, 7 of
them among the 12 from 4 mm on; what they were ahead by was 1.3 to 4.3."""
GLARE_SHARE = 0.3
"""Of a tower's visible pixels without any evidence: a lamp's mirror image hides it."""
STRANGE_SHARE = 0.2
"""So much of a stone's top face, in mm² of the sheet's scale, about a tower in one picture that is no stone of the
reading and no table: something else is there. Paper between towers glows in their colours up to 0.14 of it."""
RIM_PX = 2
"""So far from what is drawn pixels are mixtures."""
SPOT_PX, SPOT_DEG, SPOT_ALIKE = 5, 20.0, (0.3, 0.15, 0.35)
"""Light that lies on the paper looks alike in (l, a, b), means over so many pixels square, in pictures from directions
so far apart: in tables 482, 498 and 503 to 0.07, 0.06 and 0.09 (one deviation), and whole pictures up to 0.17 apart.
Of the top of a stone, which is higher than the paper, such pictures show other parts at one spot."""
LYING_PX, LYING_SHARE = 30, 0.3
"""Of a tower's pixels whose spot on the plan others see beside all towers, so many must be judged, and so much lie
flat, to teach what tinted paper looks like. Of the towers of tables 200 to 202, 420 to 519, 534, 538, 545, 548 and 559
that were read in their true height none had 0.15 of it; those read of paper had 0.76 to 0.98, and such as have a storey
of it 0.33 to 1."""
TINTED_SHARE = 0.5
"""Where a table has tinted paper, so much of what is behind is."""
TINTED_READINGS = 3
"""So often a table is read at most, each time with the paper that the one before took for stones."""
SIDES_DEG = 35.0
"""Two pictures must be taken from directions so far apart: what one side alone shows can be other towers as well."""
LOOK_SHARE, LOOK_NATS = 0.5, 0.5
"""A picture that shows so much of a tower, of a stone's top face, must speak for it by so much a pixel: else something
is before it. A strip in the shade between towers alone, up to 0.36, has their glow."""
COLOR_A_PX = 0.5
"""Nats a pixel by which a storey's colour must be ahead: orange in the shade and brown are less apart."""
PAINT_NATS, PAINT_AGREED_NATS = 4.0, 1.0
"""By so much a storey's paint must be ahead of every other by what its sides show in their light; and where its pixels,
each for itself, say the same."""
PAINT_PX = 30
"""From fewer pixels well inside of its sides a storey's paint is not told."""
BARE_NATS, BARE_SURE_NATS = 2.0, 5.0
"""Paper so far ahead of all paints is no storey to be sure of; and so far, over the whole top of all that was read on a
site, is a free site. Of 3464 storeys of tables 200 to 202, 420 to 459 and 465 the barest was 0.1; paper that was read
as one was 3 to 22, but for two storeys in the glow of towers (1.3 and 3.0 the other way), which lie too far off each
other for a stack."""
