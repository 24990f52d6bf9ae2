package offline

import "slices"

func readClear(c catalogue, p phrase) command {
	surely := slices.Contains(words("clear empty unset blank"), p.word(0))
	if !surely && !slices.Contains(words("remove delete drop erase"), p.word(0)) {
		return nil
	}
	var ways []way
	for _, t := range c.targets(p.from(1), removers) {
		t.set = []assignment{{field: t.set[0].field, nothing: true}}
		ways = append(ways, t)
	}
	if len(ways) == 0 && !surely {
		return nil
	}
	return changing(ways, p.from(1), "clear <field> of <record>")
}
