package symbols
import ("testing";"fmt";"os";"strings")
func TestExplore(t *testing.T){
 for _,b:=range strings.Fields(os.Getenv("BINS")) {
  o,err:=OpenObject(b); if err!=nil {t.Fatal(err)}
  fmt.Println("==",b,o.Arch(),o.IsPIE(),o.BuildID(),o.Stripped(),o.HasDWARF(),o.Interpreter(),o.Needed())
  o.Symbols(func(n string,v,s uint64){
    if !isOutlined(n)|| strings.Contains(n,"reduction_func"){return}
    e,ok:=o.Outlined(v)
    if !ok {fmt.Println(n,"-- no");return}
    bb,ee,ok2:=o.SourceExtent(e.File,e.Begin,"")
    lo,hi,ok3:=o.FuncRange(v)
    m:=""; if ok2 && (bb!=e.Begin || ee-e.End>1||ee<e.End) {m="  <<<<"}
    fmt.Println(n,v==lo,hi-lo,ok3,e.File[strings.LastIndex(e.File,"/")+1:],e.Begin,e.End,e.Function,"src",bb,ee,ok2,m)
  })
 }
}
