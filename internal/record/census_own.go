package record

import "slices"

// leaveOwn takes off the rows that the writes themselves are.
func leaveOwn(list []counted, groups []group) {
	for _, g := range groups {
		e, rows := g.writes[0].Entity, len(g.writes)
		switch g.writes[0].Operation {
		case Create:
			e.takeOff(list, inserted, rows)
		case Delete:
			e.takeOff(list, deleted, rows)
		default:
			// a record that moves to another partition is deleted here and inserted there
			moved := e.takeOff(list, updated, rows)
			e.takeOff(list, inserted, moved)
			e.takeOff(list, deleted, moved)
		}
	}
}

// takeOff takes rows off the tables where the entity's records are, and gives how many it did not find.
func (e *Entity) takeOff(list []counted, op, rows int) int {
	for i := range list {
		if slices.ContainsFunc(e.homes, func(home string) bool { return slices.Contains(list[i].family, home) }) {
			n := max(0, min(rows, list[i].rows[op]))
			list[i].rows[op] -= n
			rows -= n
		}
	}
	return rows
}
