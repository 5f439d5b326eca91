----------------------------- MODULE LockToken -----------------------------
(***************************************************************************)
(* The fencing token of Lukko's quorum lock, for one resource.             *)
(*                                                                         *)
(* Nodes grant an entry and number the grant; a client that has a quorum   *)
(* of grants settles a token, in one round trip or by a confirmation.      *)
(* There is no time in this model: an entry may vanish from its node at    *)
(* any moment (expiry, release, a jump of that node's clock), a request or *)
(* a reply may be late by any measure or lost, and a client may stop at    *)
(* any point.  What holds here holds for every clock.                      *)
(*                                                                         *)
(* A round is one try of a client with an owner of its own, so rounds and  *)
(* owners are the same thing.  All rounds may run at the same time.        *)
(*                                                                         *)
(* Loss needs no action of its own, since no action is ever forced: a lost *)
(* request is one that is never delivered, a refused one changes nothing,  *)
(* and a stopped client takes no further step.  Receiving is no action     *)
(* either: a client that decides looks at any quorum of the replies given  *)
(* so far, as if all others were late.                                     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Nodes,         \* the stores that vote
  Rounds,        \* the tries that may happen
  NoRound,       \* stands for: the node holds no entry
  Quorum,        \* how many nodes decide
  MaxProposal,   \* proposals are 1..MaxProposal, chosen freely: a clock proves nothing
  MaxCounter,    \* numbers above it are out of the bound of the check
  MaxLeftover,   \* counters begin anywhere in 0..MaxLeftover, as earlier rounds left them behind
  MaxForgets,    \* how often a node may lose everything that it knows
  Repairs,       \* whether extensions put lost entries back
  Variant        \* "protocol", or the short cut that is tried instead

VARIABLES
  counter,   \* node -> the highest number given there
  holder,    \* node -> the round whose entry stands there
  phase,     \* round -> "idle", "asking", "confirming", "done" or "lost"
  proposal,  \* round -> the number that it proposes
  reply,     \* round -> node -> the number of its grant there, 0 while there is none
  asked,     \* round -> the number that it asks to confirm, 0 while there is none
  open,      \* round -> node -> the numbers whose confirmation is still under way
  token,     \* round -> its token, 0 while there is none
  floor,     \* round -> the highest token that was complete when it started
  standing,  \* round -> the nodes that voted for its token and held its entry ever since
  overtaken, \* whether a token was passed while its entries stood at a quorum
  away,      \* nodes in quarantine
  caught,    \* node -> the rounds that ran when it forgot
  low,       \* node -> the highest number in the world when it forgot
  clock,     \* proposals are above it
  forgets    \* how often nodes forgot so far

nodeVars == <<counter, holder>>
faultVars == <<away, caught, low, clock, forgets>>
vars == <<counter, holder, phase, proposal, reply, asked, open, token, floor,
          standing, overtaken, away, caught, low, clock, forgets>>

Symmetry == Permutations(Nodes) \cup Permutations(Rounds)

Max(S) == CHOOSE x \in S : \A y \in S : y <= x
QuorumsOf(S) == {Q \in SUBSET S : Cardinality(Q) = Quorum}

TypeOK ==
  /\ counter \in [Nodes -> 0..MaxCounter]
  /\ holder \in [Nodes -> Rounds \cup {NoRound}]
  /\ phase \in [Rounds -> {"idle", "asking", "confirming", "done", "lost"}]
  /\ proposal \in [Rounds -> 0..MaxCounter + MaxProposal]
  /\ reply \in [Rounds -> [Nodes -> 0..MaxCounter]]
  /\ asked \in [Rounds -> 0..MaxCounter]
  /\ open \in [Rounds -> [Nodes -> SUBSET (1..MaxCounter)]]
  /\ token \in [Rounds -> 0..MaxCounter]
  /\ floor \in [Rounds -> 0..MaxCounter]
  /\ standing \in [Rounds -> SUBSET Nodes]
  /\ overtaken \in BOOLEAN
  /\ away \subseteq Nodes

Init ==
  /\ counter \in [Nodes -> 0..MaxLeftover]
  /\ holder = [n \in Nodes |-> NoRound]
  /\ phase = [r \in Rounds |-> "idle"]
  /\ proposal = [r \in Rounds |-> 0]
  /\ reply = [r \in Rounds |-> [n \in Nodes |-> 0]]
  /\ asked = [r \in Rounds |-> 0]
  /\ open = [r \in Rounds |-> [n \in Nodes |-> {}]]
  /\ token = [r \in Rounds |-> 0]
  /\ floor = [r \in Rounds |-> 0]
  /\ standing = [r \in Rounds |-> {}]
  /\ overtaken = FALSE
  /\ away = {}
  /\ caught = [n \in Nodes |-> {}]
  /\ low = [n \in Nodes |-> 0]
  /\ clock = 0
  /\ forgets = 0

-----------------------------------------------------------------------------
(* A round starts: the grant request goes to all nodes at once. *)

Start(r) ==
  /\ phase[r] = "idle"
  /\ \E p \in (clock + 1)..(clock + MaxProposal) :
       proposal' = [proposal EXCEPT ![r] = p]
  /\ phase' = [phase EXCEPT ![r] = "asking"]
  /\ floor' = [floor EXCEPT ![r] = Max({token[s] : s \in Rounds})]
  /\ UNCHANGED <<nodeVars, reply, asked, open, token, standing, overtaken, faultVars>>

(* The number that node n gives to a grant. *)
NumberFor(n, r) ==
  IF Variant /= "increment" /\ proposal[r] > counter[n]
  THEN proposal[r]
  ELSE counter[n] + 1

(* A grant request arrives at a node whose entry is free.  It may come after its round has ended. *)
Grant(r, n) ==
  /\ phase[r] /= "idle"
  /\ n \notin away
  /\ reply[r][n] = 0
  /\ holder[n] = NoRound
  /\ NumberFor(n, r) <= MaxCounter
  /\ counter' = [counter EXCEPT ![n] = NumberFor(n, r)]
  /\ holder' = [holder EXCEPT ![n] = r]
  \* Only a client that still counts grants cares for the number, or one that may ask again for it.
  /\ reply' = [reply EXCEPT ![r][n] =
                 IF \/ phase[r] = "asking"
                    \/ phase[r] = "confirming" /\ NumberFor(n, r) > asked[r]
                 THEN NumberFor(n, r) ELSE 1]
  /\ UNCHANGED <<phase, proposal, asked, open, token, floor, standing, overtaken, faultVars>>

(* The entry is gone from node n, for whatever reason. *)
Without(n) ==
  [r \in Rounds |->
    LET left == standing[r] \ {n}
    IN IF Cardinality(left) >= Quorum THEN left ELSE {}]

Expire(n) ==
  /\ holder[n] /= NoRound
  /\ holder' = [holder EXCEPT ![n] = NoRound]
  /\ standing' = Without(n)
  /\ UNCHANGED <<counter, phase, proposal, reply, asked, open, token, floor, overtaken, faultVars>>

-----------------------------------------------------------------------------
(* The acquisition of r is complete, with token t by the votes of nodes V. *)
Complete(r, t, V) ==
  LET stillThere == {n \in V : holder[n] = r}
  IN
  /\ phase' = [phase EXCEPT ![r] = "done"]
  /\ token' = [token EXCEPT ![r] = t]
  /\ standing' = [standing EXCEPT ![r] =
                    IF Cardinality(stillThere) >= Quorum THEN stillThere ELSE {}]
  /\ overtaken' = (overtaken \/ \E s \in Rounds \ {r} : standing[s] /= {} /\ token[s] < t)
  \* What is known once and for all needs no memory: this keeps the state space small.
  /\ floor' = [floor EXCEPT ![r] = IF @ < t THEN 0 ELSE @]
  /\ asked' = [asked EXCEPT ![r] = 0]
  /\ open' = [open EXCEPT ![r] = [n \in Nodes |-> {v \in @[n] : v > counter[n]}]]
  /\ reply' = [reply EXCEPT ![r] = [n \in Nodes |-> IF @[n] = 0 THEN 0 ELSE 1]]
  /\ UNCHANGED <<nodeVars, proposal, faultVars>>

(* The client asks the nodes to confirm the number v.  A node whose grant had this very number is   *)
(* not asked: its grant was the vote.                                                              *)
AskToConfirm(r, v) ==
  /\ v <= MaxCounter
  /\ phase' = [phase EXCEPT ![r] = "confirming"]
  /\ asked' = [asked EXCEPT ![r] = v]
  /\ open' = [open EXCEPT ![r] =
                [n \in Nodes |-> IF reply[r][n] = v /\ Variant /= "strictly-above"
                                  THEN @[n] ELSE @[n] \cup {v}]]
  /\ reply' = [reply EXCEPT ![r] =
                 [n \in Nodes |-> IF @[n] > v THEN @[n] ELSE IF @[n] = 0 THEN 0 ELSE 1]]
  /\ UNCHANGED <<nodeVars, proposal, token, floor, standing, overtaken, faultVars>>

(* The client has the grants of the quorum Q, and settles the token or asks for confirmation.      *)
(* Larger sets of grants add nothing: what they lead to, one of their quorums leads to as well.    *)
Decide(r) ==
  /\ phase[r] = "asking"
  /\ \E Q \in QuorumsOf({n \in Nodes : reply[r][n] > 0}) :
       LET highest == Max({reply[r][n] : n \in Q})
           unanimous == \A n \in Q : reply[r][n] = highest
       IN CASE Variant = "increment" -> Complete(r, highest, Q)
            [] Variant = "first-reply" -> \E n \in Q : Complete(r, reply[r][n], Q)
            [] unanimous -> Complete(r, highest, Q)
            [] Variant = "strictly-above" -> AskToConfirm(r, highest + 1)
            [] OTHER -> AskToConfirm(r, highest)

(* A node's two conditions for a confirmation, and which of them a short cut leaves out.  While its *)
(* own entry stands, only votes for this round can have raised the counter since its grant: so the *)
(* counter's own number is confirmed, too.  A node may be stricter ("strictly-above").             *)
OwnerIsRight(r, n) == Variant \in {"write-back", "no-owner"} \/ holder[n] = r
NumberIsFit(n, v) ==
  CASE Variant \in {"write-back", "no-counter"} -> TRUE
    [] Variant = "strictly-above" -> counter[n] < v
    [] OTHER -> counter[n] <= v

Confirm(r, n) ==
  /\ n \notin away
  /\ \E v \in open[r][n] :
       /\ OwnerIsRight(r, n)
       /\ NumberIsFit(n, v)
       /\ counter' = [counter EXCEPT ![n] = IF Variant = "write-back" THEN Max({@, v}) ELSE v]
       /\ open' = [open EXCEPT ![r][n] = @ \ {v}]
  /\ UNCHANGED <<holder, phase, proposal, reply, asked, token, floor, standing, overtaken, faultVars>>

(* A node refuses since its counter is higher, and the client asks again, for that number. *)
AskAgain(r) ==
  /\ phase[r] = "confirming"
  /\ \E n \in Nodes \ away :
       /\ asked[r] \in open[r][n]
       /\ OwnerIsRight(r, n)
       /\ ~NumberIsFit(n, asked[r])
       /\ AskToConfirm(r, IF Variant = "strictly-above" THEN counter[n] + 1 ELSE counter[n])

(* A quorum has confirmed. *)
Settle(r) ==
  /\ phase[r] = "confirming"
  /\ LET confirmed == {n \in Nodes : asked[r] \notin open[r][n]}
     IN /\ Cardinality(confirmed) >= Quorum
        /\ Complete(r, asked[r], confirmed)

-----------------------------------------------------------------------------
(* An extension of a complete acquisition puts the entry back at a node that lost it.  That it is  *)
(* sent only while the lease is valid is a matter of time; here it arrives at any later moment.    *)
Repair(r, n) ==
  /\ Repairs
  /\ phase[r] = "done"
  /\ n \notin away
  /\ holder[n] = NoRound
  /\ holder' = [holder EXCEPT ![n] = r]
  /\ counter' = [counter EXCEPT ![n] =
                   IF Variant = "repair-lowers" THEN token[r] ELSE Max({@, token[r]})]
  /\ UNCHANGED <<phase, proposal, reply, asked, open, token, floor, standing, overtaken, faultVars>>

-----------------------------------------------------------------------------
(* A node loses its entry and its counter. *)
Forget(n) ==
  /\ forgets < MaxForgets
  /\ n \notin away
  /\ forgets' = forgets + 1
  /\ counter' = [counter EXCEPT ![n] = 0]
  /\ holder' = [holder EXCEPT ![n] = NoRound]
  /\ standing' = Without(n)
  /\ IF Variant = "no-quarantine"
     THEN UNCHANGED <<away, caught, low>>
     ELSE /\ away' = away \cup {n}
          /\ caught' = [caught EXCEPT ![n] = {r \in Rounds : phase[r] \in {"asking", "confirming"}}]
          /\ low' = [low EXCEPT ![n] = Max({counter[m] : m \in Nodes})]
  /\ UNCHANGED <<phase, proposal, reply, asked, open, token, floor, overtaken, clock>>

(* Quarantine is over.  It is the only place where time counts.  It lasted longer than any ttl, so *)
(* a round that ran when the node forgot has no validity left.  And it lasted longer than clocks   *)
(* differ, so whoever asks from now on proposes more than all numbers from before the loss; a     *)
(* round whose request is older than that is past its node timeout.                                *)
Rejoin(n) ==
  /\ n \in away
  /\ away' = away \ {n}
  /\ phase' = [r \in Rounds |->
                IF /\ phase[r] \in {"asking", "confirming"}
                   /\ \/ r \in caught[n]
                      \/ Variant \notin {"clocks-apart", "quarantine-tight"} /\ proposal[r] <= low[n]
                THEN "lost" ELSE phase[r]]
  /\ clock' = IF Variant = "clocks-apart" THEN clock ELSE Max({clock, low[n]})
  /\ caught' = [caught EXCEPT ![n] = {}]
  /\ low' = [low EXCEPT ![n] = 0]
  /\ UNCHANGED <<counter, holder, proposal, reply, asked, open, token, floor, standing, overtaken, forgets>>

Next ==
  \/ \E r \in Rounds : Start(r)
  \/ \E r \in Rounds, n \in Nodes : Grant(r, n)
  \/ \E n \in Nodes : Expire(n)
  \/ \E r \in Rounds : Decide(r)
  \/ \E r \in Rounds, n \in Nodes : Confirm(r, n)
  \/ \E r \in Rounds : AskAgain(r)
  \/ \E r \in Rounds : Settle(r)
  \/ \E r \in Rounds, n \in Nodes : Repair(r, n)
  \/ \E n \in Nodes : Forget(n)
  \/ \E n \in Nodes : Rejoin(n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* No two acquisitions have the same token. *)
TokensUnique ==
  \A r, s \in Rounds : (r /= s /\ token[r] > 0) => token[r] /= token[s]

(* An acquisition that was complete before another started has the smaller token. *)
TokensOrdered ==
  \A r \in Rounds : phase[r] = "done" => floor[r] < token[r]

(* While the entries that voted for a token stand at a quorum, nobody completes with a higher one: *)
(* a stale client cannot fence off the holder of a lock that is in force.                          *)
NotOvertaken == ~overtaken

-----------------------------------------------------------------------------
(* To be refuted: they show that the check gets where it matters. *)

SlowPathIsNeverTaken == \A r \in Rounds : ~ (phase[r] = "confirming" /\ ENABLED Settle(r))

NobodyAsksAgain == \A r \in Rounds : ~ ENABLED AskAgain(r)

NobodyWinsAfterARejoin == ~ (clock > 0 /\ \E r \in Rounds : token[r] > clock)
=============================================================================
