package offline

import (
	"encoding/json"
	"math/big"
	"slices"

	"github.com/countersign/countersign/internal/toolcall"
)

// division takes part of a record's number off to a new one: so much, or half, or what is left of a first part.
type division struct {
	targets []reference
	half    bool
	kept    string // said beside the part, and checked
	part    string
}

const splitShape = "split <number> off <record>"

var halves = phrases("in two", "in half", "into two", "into halves", "into two halves", "into two parts", "into two orders", "in two parts", "in two orders", "evenly", "in the middle")

// splitter is the action that splits records, in an object of that name.
func (n *noun) splitter() *act {
	return n.actWith(func(i toolcall.InputInfo) bool {
		_, ok := inner(i)
		return i.Name == splitting && ok
	})
}

func readSplit(c catalogue, p phrase) command {
	if p.word(0) != "split" && p.word(0) != "divide" {
		return nil
	}
	p = p.from(1)
	d := division{}
	if at := p.index(1, "off", "from"); at == 1 && decimal.MatchString(p.word(0)) {
		d.part, p = p.word(0), p.from(at+1).withoutFirst("of", "from")
	} else if whole, ok := p.halved(); ok {
		d.half, p = true, whole
	} else if at := p.lastIndex("into", "in"); at > 0 {
		if d.kept, d.part = p.from(at + 1).pair(); d.part == "" {
			return puzzled{splitShape}
		}
		p = p.to(at)
	}
	d.targets = c.references(p)
	if len(d.targets) == 0 {
		return puzzled{splitShape}
	}
	if d.targets[0].many {
		return bulk{}
	}
	return d
}

// halved takes "in two" off the end of a phrase.
func (p phrase) halved() (phrase, bool) {
	for _, one := range halves {
		if at := p.len() - len(one); at > 0 && p.from(at).starts(one...) {
			return p.to(at), true
		}
	}
	return p, false
}

// pair reads "300 and 180".
func (p phrase) pair() (first, second string) {
	numbers := slices.DeleteFunc(p.plain().normal(), func(w string) bool { return w == "and" })
	if len(numbers) != 2 || !decimal.MatchString(numbers[0]) || !decimal.MatchString(numbers[1]) {
		return "", ""
	}
	return numbers[0], numbers[1]
}

func (d division) run(t *turn) (string, error) {
	found, _, err := t.pick(d.targets, splitting)
	if err != nil {
		return "", err
	}
	a := found.noun.splitter()
	number, _ := inner(a.input)
	part, err := d.size(found, number)
	if err != nil {
		return "", err
	}
	return t.proposeBy(a.tool, map[string]any{a.names: found.called(), a.input.Name: map[string]string{number.Name: part}})
}

// size is how much goes to the new record.
func (d division) size(found record, number toolcall.InputInfo) (string, error) {
	if !d.half && d.part == "" {
		return "", troubleError("How much goes to the new one? Say for example: split 100 off " + found.String() + ".")
	}
	if d.part != "" && d.kept == "" {
		return d.part, nil
	}
	whole, ok := found.number(number.Name)
	if !ok {
		return "", troubleError(capital(found.String()) + " has no " + number.Name + " that I can see. Say how much goes to the new one: split 100 off " + found.String() + ".")
	}
	if d.half {
		half := whole.Quo(whole, big.NewRat(2, 1))
		digits, _ := half.FloatPrec()
		return half.FloatString(digits), nil
	}
	kept, _ := new(big.Rat).SetString(d.kept)
	part, _ := new(big.Rat).SetString(d.part)
	if kept.Add(kept, part).Cmp(whole) != 0 {
		return "", troubleError(capital(found.String()) + " has " + show(found.row.Values[number.Name]) + ", and " + d.kept + " and " + d.part + " are not that together.")
	}
	return d.part, nil
}

// number is the value of a field of the record, exactly.
func (r record) number(field string) (*big.Rat, bool) {
	if r.row == nil {
		return nil, false
	}
	var text string
	raw := r.row.Values[field]
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if text == "" {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
