"""The number of storeys where pixels, each for itself, leave it open: the one whose sides explain the pictures best.

A pixel of a neighbour's side, or of paper in its glow, is as red as a stone of the site. But a side has one paint in
one light: one that is read where half of it is paper and half a neighbour leaves much of the pictures unexplained.
"""

import numpy as np

from referee.vision.city.drawn import MOST_STOREYS, CityPicture, column_box
from referee.vision.city.mixed import about_towers, clear_of, luma, side_tags, unmixed
from referee.vision.city.reading import SITES, CityReading, Tower

OPEN_NATS = 800.0
"""Numbers of storeys that are ahead by more are right: of 702 sites of 39 tables from 800 to 859, from two choices of
three pictures each, all; the wrong ones were ahead by up to 697."""
SURE_NATS = 600.0
"""By so much less must be left by the number that is told than by one more or one fewer. Of 34 open sites of those
tables, from one choice, 33 are told right, all but one by more; the wrong one is by 585. Pixels were wrong on 7."""
MOST_LEFT, LEAST_SD = 20.0, 0.01
"""The most that one pixel can be off, in squares; and the least that one usually is, of white."""
ABOUT_PX, SWEEPS = 3, 4
DEVIATION = 1.4826
"""Of a normal distribution, in medians of what is off."""


class OpenHeights:
    """The sites of a reading whose number of storeys is open, and what pictures of them leave unexplained."""

    def __init__(self, reading: CityReading) -> None:
        self.reading, self.images = reading, [luma(look.view.image) for look in reading.looks]
        self.margins = {site: reading.margin(site) for site in SITES}
        self.sites = [site for site, margin in self.margins.items() if margin < OPEN_NATS]
        self.sd = [self._usual(k, look) for k, look in enumerate(reading.looks) if self.sites]

    def told(self) -> dict[int, float]:
        """Give the open sites the number of storeys that leaves least. By site, by how many nats its number is ahead:
        where it was open, of what one storey more or fewer leave."""
        for _ in range(SWEEPS):
            before = dict(self.reading.towers)
            for site in self.sites:
                self.margins[site] = self._told(site)
            if self.reading.towers == before:
                break
        return self.margins

    def _told(self, site: int) -> float:
        tower = self.reading.towers[site]
        n = len(tower.colors)
        towers = [tower]
        for m in (n - 1, n + 1):
            if 0 <= m <= MOST_STOREYS:
                towers.append(self.reading.fitted(site, m).tower if m else Tower())
        left = self._left(site, towers)
        best = int(left.argmin())
        self.reading.towers[site] = towers[best]
        return float(np.delete(left, best).min() - left[best])

    def _left(self, site: int, towers: list[Tower]) -> np.ndarray:
        """What each of the towers on the site leaves of the pictures about it, nats."""
        out, most = np.zeros(len(towers)), max(len(tower.colors) for tower in towers)
        for image, look, sd in zip(self.images, self.reading.looks, self.sd, strict=True):
            box = tuple(
                slice(max(0, part.start - ABOUT_PX), part.stop + ABOUT_PX)
                for part in column_box(look, self.reading.storey, site, min(most + 1, MOST_STOREYS))
            )
            valid = look.view.valid[box]
            tags = [side_tags(look, self.reading.changed(site, tower))[box] for tower in towers]
            clear = clear_of(np.max(tags, 0), valid)
            each = [unmixed(image[box], of_tower, clear, valid).left for of_tower in tags]
            out += np.minimum(np.square(each / sd).sum(-1), MOST_LEFT).sum((1, 2)) / 2
        return out

    def _usual(self, k: int, look: CityPicture) -> np.ndarray:
        """(3,) what towers usually leave of a pixel's Y, Cr, Cb in a picture, one deviation."""
        tags = side_tags(look, self.reading)
        if not (tags >= 0).any():
            return np.full(3, LEAST_SD)
        box = about_towers(tags)
        tags, valid = tags[box], look.view.valid[box]
        left = unmixed(self.images[k][box], tags, clear_of(tags, valid), valid).left[tags >= 0]
        return np.maximum(DEVIATION * np.median(np.abs(left), 0), LEAST_SD)
