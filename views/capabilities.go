package views

import "strings"

// Offer is one thing the assistant may do for the viewer.
type Offer struct {
	// Entities are what it is about, in the plural: "Production orders".
	Entities  string
	Operation string
	// Does says what a custom action does: "adjust a production order"; empty for any other.
	Does     string
	Write    bool
	Approval bool
}

// Capabilities is what the assistant may do for the viewer, and whether there is an assistant at all.
type Capabilities struct {
	Enabled  bool
	Provider string
	Offers   []Offer
}

// capability is all that may be done with one kind of record.
type capability struct {
	Entities string
	Reads    []string
	Writes   []Offer
}

// byEntity groups offers in their order.
func (c Capabilities) byEntity() []capability {
	var list []capability
	at := map[string]int{}
	for _, o := range c.Offers {
		i, known := at[o.Entities]
		if !known {
			i = len(list)
			at[o.Entities] = i
			list = append(list, capability{Entities: o.Entities})
		}
		if o.Write {
			list[i].Writes = append(list[i].Writes, o)
		} else {
			list[i].Reads = append(list[i].Reads, readWord(o.Operation))
		}
	}
	return list
}

func (c Capabilities) writes() bool {
	for _, o := range c.Offers {
		if o.Write {
			return true
		}
	}
	return false
}

func readWord(operation string) string {
	if operation == "list" {
		return "find"
	}
	return "look up"
}

func writeWord(o Offer) string {
	switch o.Operation {
	case "action":
		return o.Does
	case "update":
		return "change"
	case "bulk_update":
		return "change many"
	}
	return o.Operation
}

// proposeWords lists what may be proposed: "create, change and delete (with approval)".
func proposeWords(writes []Offer) string {
	list := make([]string, len(writes))
	for i, w := range writes {
		list[i] = writeWord(w)
		if w.Approval {
			list[i] += " (with approval)"
		}
	}
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
