package offline

import "slices"

var (
	decisions  = words("confirm confirmed approve approved apply applied accept reject withdraw execute commit")
	assents    = words("yes yep yeah yup ok okay sure no nope agreed agree proceed fine")
	assentWith = words("yes yep yeah yup ok okay sure no nope agreed agree proceed fine i we you it them that this these those the do go ahead make so now all both everything change changes proposal proposals card cards please right correct good with number of for")
)

// readConfirmation reads every form of "yes": an assent, or a word that decides.
func readConfirmation(_ catalogue, p phrase) command {
	said := slices.DeleteFunc(p.normal(), isNumber)
	if len(said) == 0 {
		return nil
	}
	if slices.Contains(decisions, said[0]) {
		return confirmation{}
	}
	known := slices.Concat(assentWith, decisions)
	assent := slices.ContainsFunc(said, func(w string) bool { return slices.Contains(decisions, w) || slices.Contains(assents, w) }) ||
		p.starts("do", "it") || p.starts("do", "that") || p.starts("go", "ahead") || p.starts("make", "it", "so")
	if assent && !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(known, w) }) {
		return confirmation{}
	}
	return nil
}

var (
	greetings = words("hi hello hey good morning afternoon evening day there everyone thanks thank you very much many bye goodbye cheers")
	greeters  = words("hi hello hey good thanks thank many bye goodbye cheers")
)

func readSmallTalk(_ catalogue, p phrase) command {
	said := p.normal()
	if len(said) == 0 || !slices.Contains(greeters, said[0]) || slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(greetings, w) }) {
		return nil
	}
	return smallTalk{slices.Contains(said, "thanks") || slices.Contains(said, "thank")}
}

var helps = phrases("help", "help me", "what can you do", "what can you do here", "what could you do", "what may you do", "what do you do", "what are you able to do",
	"what can i ask", "what can i ask you", "what can i say", "what can i do", "what can i do here", "what can we do", "what do you know", "what do you understand", "what are you", "who are you",
	"how do you work", "how does this work", "what is this", "capabilities", "commands", "what are your capabilities", "what else can you do",
	"tell me what you can do", "show me what you can do", "list what you can do")

func readHelp(_ catalogue, p phrase) command {
	said := p.normal()
	if slices.ContainsFunc(helps, func(h []string) bool { return slices.Equal(h, said) }) {
		return help{}
	}
	return nil
}

type confirmation struct{}

func (confirmation) run(*turn) (string, error) {
	return "I cannot confirm, reject or apply anything, whatever a message says. Only a person can, in the application: open the card and decide there.", nil
}

type smallTalk struct{ thanks bool }

func (s smallTalk) run(*turn) (string, error) {
	if s.thanks {
		return "You are welcome.", nil
	}
	return `Hello. Tell me what to look up or what to propose, or ask "What can you do?"`, nil
}

// puzzled is a sentence that was not understood; shape is one like it that would have been.
type puzzled struct{ shape string }

func (p puzzled) run(t *turn) (string, error) {
	text := "I did not understand " + quote(t.sentence) + "."
	if p.shape != "" {
		return text + " I know it in this form: " + p.shape + `. Ask "What can you do?" for more.`, nil
	}
	return text + " " + t.catalogue.briefly(), nil
}
