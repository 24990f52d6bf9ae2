package offline

// command is one sentence as the grammar understood it. run answers with what to say; an error of type
// troubleError is said too, any other ends the turn.
type command interface {
	run(*turn) (string, error)
}

// troubleError is a sentence that says why something could not be prepared or looked up.
type troubleError string

func (t troubleError) Error() string { return string(t) }

// reader reads a sentence as one kind of command; nil where it is none of that kind.
type reader func(catalogue, phrase) command

// readers stand in the order they are tried: "make a role" creates before "make" changes, "remove the
// notes of" clears before "remove" deletes.
var readers = []reader{
	readConfirmation, readSmallTalk, readHelp, readRename, readClear, readShift, readSplit, readCreation, readDeletion, readChange, readQuestion,
}

// talk is how many of the readers need no tools.
const talk = 3

// parse reads one sentence. It never fails: what it does not understand is a command that says so.
func parse(c catalogue, sentence phrase) command {
	p := stripped(sentence)
	for i, read := range readers {
		if len(c) == 0 && i == talk {
			break
		}
		if understood := read(c, p); understood != nil {
			return understood
		}
	}
	return puzzled{}
}
