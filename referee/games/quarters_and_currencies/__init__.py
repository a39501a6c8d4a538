"""Buildings of six kinds, each bought in the currency of its place in the yard (plays like *Stimmt so!*).

``cards`` what the box holds, ``scoring`` the three scorings, ``table`` state and facts, ``play`` the rules of a turn.
"""
