"""Where files changed since the index was made: after `mypy > mypy.log` in the root of the worktree, renames the members and keywords
that mypy misses, by benchmarks.txt. Repeat mypy; delete mypy.log."""
import re,pathlib,collections
table=pathlib.Path(".ci/renames/benchmarks.txt").read_text()
mem=collections.defaultdict(dict); par=collections.defaultdict(dict)
for part in re.split(r"[;\n]",table):
    part=part.split("#")[0]
    m=re.match(r"\s*([\w.]+) -> (\w+)\s*$",part)
    if m and "." in m[1]:
        c,o=m[1].rsplit(".",1); mem[o][c]=m[2]
    m=re.match(r"\s*(\w+)\.(\w+):(\w+) -> (\w+)\s*$",part)
    if m: par[m[3]][m[1]]=m[4]
ren={"ScoringResult":"Scored","OneSwarmStore":"OneSwarmStore"}
def pick(o,cls,d):
    cands=d.get(o,{})
    vals=set(cands.values())
    base=cls.split("[")[0]
    if base in cands: return cands[base]
    if ren.get(base) in cands: return cands[ren[base]]
    if len(vals)==1: return vals.pop()
    inh={"Ledger":"Budget","ModelBudget":"Budget","SwarmStore":"Store","CaseStore":"Store","SessionFolder":"Folder","ModelFolder":"Folder","CaseFolder":"Folder"}
    return cands.get(inh.get(base,""))
for l in open("mypy.log"):
    m=re.match(r'(\S+?):(\d+): error: "(.+?)" has no attribute "(\w+)"',l); kw=False
    if not m:
        m=re.match(r'(\S+?):(\d+): error: Unexpected keyword argument "(\w+)" for (?:"\w+" of )?"(\w+)"',l); kw=True
        if not m: print("--",l.strip()); continue
        f,n,o,c=m.groups(); new=pick(o,c,mem) or pick(o,c,par)
    else:
        f,n,c,o=m.groups(); new=pick(o,c,mem)
    if not new: print("??",l.strip()); continue
    p=pathlib.Path(f); L=p.read_text().split("\n")
    pat=re.compile(rf"\b{o}(?==)" if kw else rf"(?<=\.){o}\b")
    for i in range(int(n)-1,int(n)+14):
        s,k=pat.subn(new,L[i],count=1)
        if k: L[i]=s; break
    else: print("no place",l.strip())
    p.write_text("\n".join(L))
