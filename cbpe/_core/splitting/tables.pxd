"""Tables of an automaton, for the splitter."""

from cbpe._core.splitting.automaton cimport Automaton
from cbpe._core.splitting.classes cimport Classes


cdef bytes ascii_rows(Automaton automaton, Classes classes)
cdef bytes classes_below(Classes classes)
cdef bytes sure_borders(Automaton automaton, Classes classes)
