"""The law and the match, pure: no camera, no clock, no port. What is right, who meets whom, what a command does."""
