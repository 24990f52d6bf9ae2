package offline
import ("testing";"strings";"time")
func TestSlow(t *testing.T){
 for _,s:=range []string{"to ","and name ","role ","set name of role to ","set notes of PO-1042 to and name , ","list role and ","show of ' ","\"","'s ","set name = of ", "push by a day to of ", "list roles with x and x, ", "a\n"} {
  for _,pre:=range []string{"","set ","list ","rename ","show ","push ","create a role "} {
  m:=pre+strings.Repeat(s,4000/len(s))
  w:=smallMill(t); b:=time.Now(); w.say(m); d:=time.Since(b)
  if d>50*time.Millisecond { t.Logf("%q x: %v calls %d", pre+s, d, w.calls)}
 }}
}
