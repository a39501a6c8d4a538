"""How often people overruled the camera, as the record tells it: that is kept nowhere else."""

from cards.sentences import Sentence, sentence
from referee.journal.spool import Record
from referee.match.duel import OTHER_ZONE, Duel
from referee.match.evolve import fold

RULED = ("match", "mismatch")


def camera_record(record: Record, since: str = "") -> Sentence:
    """On how many builds the camera ruled in duels whose go was no earlier than ``since``, and how many of these
    rulings a human turned round, in words. To declare a duel void is no ruling on a build."""
    stories = [record.events(match_id) for match_id in record.matches()]
    matches = [fold(events) for events in stories if events and events[0].kind == "match_created"]
    duels = [duel for match in matches for duel in match.history if (duel.go_at or "") >= since]
    said = [(duel, zone) for duel in duels for zone in duel.callers if _by_camera(duel, zone) in RULED]
    turned = [1 for duel, zone in said if _by_human(duel, zone) not in ("", _by_camera(duel, zone))]
    return sentence("prove_since", n=len(said), m=len(turned))


def _by_camera(duel: Duel, zone: str) -> str:
    return duel.verdicts[zone].ruling if zone in duel.verdicts else ""


def _by_human(duel: Duel, zone: str) -> str:
    """The last human ruling on that zone's build; empty where there is none."""
    awards = {f"award_{zone}": "match", f"award_{OTHER_ZONE[zone]}": "mismatch"}
    known = {ruling: ruling for ruling in RULED} | awards
    said = [row["ruling"] for row in duel.human if row.get("zone") in (None, zone) and row["ruling"] in known]
    return known[said[-1]] if said else ""
