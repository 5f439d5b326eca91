package dev.lukko.spec.epr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lukko.spec.epr.Z3.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The generator of the conditions: a mistake in it must not be able to prove what is not so. */
class GeneratorTest {
  private static final String TWO_MARKS =
      """
      (sorts Node)
      (state left (Node) Bool)
      (state right (Node) Bool)
      (state here () Node)
      (state there () Node)
      (define marked ((n Node)) (or (left n) (right n)))
      (init (forall ((n Node)) (and (not (left n)) (not (right n)))))
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          # A step with an effect breaks what the effect breaks, at the place that is meant and nowhere else.
          (add left n)                   | (forall ((n Node)) (not (left n)))                        | POSSIBLE
          (add left n)                   | (forall ((n Node)) (not (right n)))                       | IMPOSSIBLE
          (drop left n)                  | (forall ((n Node)) (left n))                              | POSSIBLE
          (drop left *)                  | (exists ((n Node)) (left n))                              | POSSIBLE
          (drop left *)                  | (forall ((n Node)) (=> (left n) (right n)))               | IMPOSSIBLE
          (put here n)                   | (left here)                                               | POSSIBLE
          (put here here)                | (left here)                                               | IMPOSSIBLE
          # Each effect reads the state before the step, whatever the order in which they are written.
          (put here there) (put there here) | (and (left here) (not (left there)))                   | POSSIBLE
          (put here there) (put there here) | (= (left here) (left there))                           | IMPOSSIBLE
          (put here there) (put there here) | (not (= here there)) | IMPOSSIBLE
          (put here there) (put there here) | (or (left here) (not (left there))) | POSSIBLE
          (put here there) (put there here) | (= here there)                                         | IMPOSSIBLE
          (set (left (m Node)) (right m)) (set (right (m Node)) (left m)) | (forall ((m Node)) (left m)) | POSSIBLE
          (set (left (m Node)) (right m)) (set (right (m Node)) (left m)) | (forall ((m Node)) (= (left m) (right m))) | IMPOSSIBLE
          # What is required holds before the step, not after it.
          (require left (left n)) (drop left n) | (exists ((m Node)) (left m))                       | POSSIBLE
          (require none (not (left n))) (add left n) | (forall ((m Node)) (not (left m)))            | POSSIBLE
          (require right (right n)) (add left n) | (forall ((m Node)) (=> (left m) (right m)))       | IMPOSSIBLE
          # A definition speaks of the state in which it is read.
          (add left n)                   | (forall ((m Node)) (not (marked m)))                      | POSSIBLE
          (drop left n)                  | (forall ((m Node)) (not (marked m)))                      | IMPOSSIBLE
          (require marked (marked n)) (drop left n) (drop right n) | (exists ((m Node)) (marked m))  | POSSIBLE
          # A variable that a quantifier binds is not the parameter of that name.
          (set (left (m Node)) (exists ((k Node)) (and (= k n) (left k)))) | (exists ((n Node)) (left n)) | POSSIBLE
          (require all (forall ((m Node)) (left m))) (add right n) | (exists ((m Node)) (right m))   | IMPOSSIBLE
          """)
  void stepBreaksAConjunctIfItCanAndOnlyThen(String effects, String conjunct, Verdict expected) {
    Model model =
        model(
            TWO_MARKS
                + "(action step ((n Node)) "
                + effects
                + ")(invariant kept "
                + conjunct
                + ")");

    assertThat(
            Checks.decide(Conditions.kept(model, model.action("step"), model.conjuncts().get(0))))
        .isEqualTo(expected);
  }

  @Test
  void beginningThatBreaksAConjunctIsFound() {
    Model model =
        model(
            TWO_MARKS
                + "(invariant some (exists ((n Node)) (marked n)))"
                + "(invariant none (forall ((n Node)) (not (marked n))))");

    assertThat(Checks.decide(Conditions.initially(model, model.conjuncts().get(0))))
        .isEqualTo(Verdict.POSSIBLE);
    assertThat(Checks.decide(Conditions.initially(model, model.conjuncts().get(1))))
        .isEqualTo(Verdict.IMPOSSIBLE);
  }

  @Test
  void actionThatCanNeverHappenIsFoundOut() {
    Model model =
        model(TWO_MARKS + "(action never ((n Node)) (require both (and (left n) (not (left n)))))");

    assertThat(Checks.decide(Conditions.possible(model, model.action("never"))))
        .isEqualTo(Verdict.IMPOSSIBLE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (mark a) (mark b) (unmark a)  | (and (left b) (not (left a)))              | POSSIBLE
          (mark a) (mark b) (unmark a)  | (left a)                                   | IMPOSSIBLE
          (mark a) (mark b) (unmark a)  | (and (after 2 (left a)) (after 1 (not (left b)))) | POSSIBLE
          (mark a) (mark b) (unmark a)  | (after 1 (left b))                         | IMPOSSIBLE
          (mark) (mark)                 | (and (left a) (left b))                    | POSSIBLE
          (mark _)                      | (and (left a) (left b))                    | IMPOSSIBLE
          (unmark a)                    | true                                       | IMPOSSIBLE
          """)
  void runIsPossibleIfEachOfItsStepsIs(String steps, String end, Verdict expected) {
    Model model =
        model(
            TWO_MARKS
                + "(action mark ((n Node)) (require new (not (left n))) (add left n))"
                + "(action unmark ((n Node)) (require old (left n)) (drop left n))"
                + "(world two (const a Node) (const b Node) (distinct a b))"
                + "(run it (in two) (steps %s) (end %s))".formatted(steps, end));

    assertThat(Checks.decide(Conditions.run(model, model.runs().get(0)))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (forall ((n Node)) (exists ((v Num)) (f n v)))                    | true
          (forall ((n Node)) (exists ((m Node)) (e n m)))                   | false
          (not (exists ((n Node)) (forall ((m Node)) (e n m))))             | false
          (exists ((n Node)) (forall ((m Node)) (e n m)))                   | true
          (=> (forall ((n Node)) (exists ((m Node)) (e n m))) true)         | true
          (= a (forall ((n Node)) (exists ((m Node)) (e n m))))             | false
          (ite (forall ((n Node)) (exists ((m Node)) (e n m))) true true)   | false
          (ite (exists ((n Node)) (forall ((m Node)) (e n m))) true true)   | false
          (forall ((v Num)) (exists ((n Node)) (f n v)))                    | false
          (forall ((n Node)) (defined n))                                   | false
          """)
  void questionIsDecidableIfNoSortIsMadeOutOfItself(String asserted, boolean decidable) {
    // A function makes a number out of each node, so a node must not be made out of a number.
    Query query = new Query();
    query.sort("Node");
    query.sort("Num");
    Model symbols =
        model(
            "(sorts Node Num)(state c (Node) Num)(state e (Node Node) Bool)"
                + "(define defined ((n Node)) (exists ((m Node)) (e n m)))");
    symbols.state().forEach(symbol -> query.declare(symbol.name(), symbol));
    symbols.definitions().forEach(definition -> query.define(definition, "Bool"));
    query.require(TermReader.read(asserted).get(0), "the question");

    assertThat(query.circle().isEmpty()).isEqualTo(decidable);
  }

  @Test
  void nameThatAQuantifierWouldBindIsNotPutIn() {
    Term term = TermReader.read("(forall ((m Node)) (e n m))").get(0);

    assertThatThrownBy(() -> term.replace(Map.of("n", "m"))).hasMessageContaining("would be bound");
    assertThat(term.replace(Map.of("n", "k", "m", "j"))).hasToString("(forall ((m Node)) (e k m))");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (states left (Node) Bool)                                     | unknown form states
          (state left (Node) Bool) (state left (Node) Bool)             | left is declared twice
          (state left (Nodes) Bool)                                     | there is no sort Nodes
          (action a ((n Node)) (add left n))                            | left is not part of the state
          (state l (Node) Bool) (action a ((n Node)) (add l n n))       | wrong number of arguments
          (state l (Node) Bool) (action a ((n Node)) (add l n) (drop l n)) | l is written twice
          (state l (Node) Bool) (action a ((l Node)) (add l l))         | l hides something of the same name
          (state l (Node) Bool) (invariant i (forall ((l Node)) true))  | l hides something of the same name
          (action a ((n Node)) (require r (forall ((n Node)) true)))    | n hides something of the same name
          (invariant i true) (property i true)                          | there are two of the name i
          (variant v hoped)                                             | a variant is proved or refuted
          (world w) (run r (possible v) (in w) (end true))              | run r names the variant v, which does not exist
          (run r (in w) (end true))                                     | a run has possible, impossible, in (a world first), steps and end
          (state l (Node) Bool                                          | 1 parentheses are not closed
          (state l (Node) Bool))                                        | a parenthesis too many in line 1
          """)
  void mistakeInAModelIsNamed(String forms, String message) {
    assertThatThrownBy(() -> model("(sorts Node) " + forms))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (without step nothing)             | there is no nothing to drop
          (without leap marked)              | m has no leap
          (require step nothing true)        | step lacks a requirement nothing
          (require-also step marked true)    | step has a requirement marked
          (effect step (add right n))        | step does not write right
          (no-invariant nothing)             | no conjunct nothing
          (no-axiom nothing)                 | there is no nothing to drop
          (forget step)                      | unknown edit (forget step)
          """)
  void variantThatWouldChangeNothingIsRefused(String edit, String message) {
    Model model =
        model(
            TWO_MARKS
                + "(action step ((n Node)) (require marked (marked n)) (add left n))"
                + "(variant v refuted %s)".formatted(edit));

    assertThatThrownBy(() -> model.variant("v").applyTo(model)).hasMessageContaining(message);
  }

  @Test
  void questionThatTheSolverDoesNotUnderstandIsNoAnswer() {
    Query query = new Query();
    query.require(TermReader.read("(unheard of)").get(0), "nonsense");

    assertThatThrownBy(() -> Checks.decide(query)).hasMessageContaining("unheard");
  }

  private static Model model(String text) {
    return ModelReader.read("m", text);
  }
}
