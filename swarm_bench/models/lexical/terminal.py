"""What is for a terminal in a text: colours, links, titles."""

import re

SEQUENCE = re.compile(
    "\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # colours and modes
    "|[\\]PX^_][^\x07\x1b\n]*?(?:\x07|\x1b\\\\|\x9c)"  # titles, links, progress
    r"|[ -/]*[0-~])"  # character sets, keypad
)
