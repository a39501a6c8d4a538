"""What may be asked: pieces, builds, cards, decks and how they are drawn. No camera, no clock."""
