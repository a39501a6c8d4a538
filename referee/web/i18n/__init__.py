"""Words in English and German."""
