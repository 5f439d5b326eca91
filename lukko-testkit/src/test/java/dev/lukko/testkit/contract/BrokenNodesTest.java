package dev.lukko.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The contract finds each defect by the test that is meant for it. */
class BrokenNodesTest {

  /** What became of the tests of a class, by the names of their methods. */
  private static final class Outcome implements TestExecutionListener {
    final Set<String> passed = new TreeSet<>();
    final Map<String, Throwable> failed = new TreeMap<>();
    final Map<String, String> skipped = new TreeMap<>();

    static Outcome of(Class<?> contract) {
      Outcome outcome = new Outcome();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request().selectors(selectClass(contract)).build(),
              outcome);
      assertThat(outcome.passed.size() + outcome.failed.size() + outcome.skipped.size())
          .isGreaterThan(40);
      return outcome;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.getSource().orElse(null) instanceof MethodSource method) {
        String name = method.getMethodName();
        switch (result.getStatus()) {
          case SUCCESSFUL -> passed.add(name);
          case FAILED -> failed.put(name, result.getThrowable().orElseThrow());
          case ABORTED -> skipped.put(name, result.getThrowable().orElseThrow().getMessage());
        }
      }
    }
  }

  private static void assertFinds(Class<? extends LockNodeContract> broken, String... tests) {
    Outcome outcome = Outcome.of(broken);
    assertThat(outcome.failed.keySet()).as("failed").contains(tests);
    assertThat(outcome.passed).as("the rest is untouched").isNotEmpty();
  }

  @Test
  void nodeWithoutDefectPassesAndWhatItDoesNotDeclareIsSkippedWithTheReason() {
    Outcome outcome = Outcome.of(BrokenNodes.Plain.class);
    assertThat(outcome.failed).isEmpty();
    assertThat(outcome.skipped.get("shouldGrantSeveralWithOneNumberAboveAll"))
        .contains("not declared: SEVERAL_RESOURCES");
    assertThat(outcome.skipped.get("shouldServeWaitersInTheOrderOfTheirTickets"))
        .contains("no capability FAIR");
    assertThat(outcome.skipped.get("shouldApplyAReleaseBehindItsGrantThoughTheStoreHungAtBoth"))
        .contains("not declared: HANGS");
    assertThat(outcome.passed)
        .contains("shouldLetAStaleHolderDoNothing", "shouldGrantToOneOfHundredsWhoAskAtOnce");
  }

  @Test
  void identityThatIsTheNodesNameIsFound() {
    assertFinds(
        BrokenNodes.IdentifiesItselfByName.class,
        "shouldTellAnIdentityOfTheStoreAndNotTheNodesName",
        "shouldTellOneIdentityThoughTheStoreHasTwoNames");
  }

  @Test
  void releaseWithoutComparingIsFound() {
    assertFinds(
        BrokenNodes.ReleasesWithoutComparing.class,
        "shouldLetNobodyReleaseWhatAnotherHolds",
        "shouldLetAStaleHolderDoNothing");
  }

  @Test
  void releaseOfWhatIsLeftOfSeveralIsFound() {
    assertFinds(
        BrokenNodes.ReleasesWhatIsLeft.class, "shouldSayThatSeveralWereNotHeldIfOneOfThemWasGone");
  }

  @Test
  void extensionThatCreatesIsFound() {
    assertFinds(BrokenNodes.CreatesByExtending.class, "shouldNeverCreateByExtending");
  }

  @Test
  void tokenThatDoesNotRiseIsFound() {
    assertFinds(
        BrokenNodes.TakesAnyProposal.class,
        "shouldRaiseTheCounterToTheProposalOrElseByOne",
        "shouldRaiseTheCounterOverExpiry",
        "shouldGiveEveryHolderOfManyAHigherNumber");
  }

  @Test
  void settlingInAnotherEpochIsFound() {
    assertFinds(
        BrokenNodes.SettlesInAnyEpoch.class, "shouldSettleAndRepairInTheEpochOfTheGrantOnly");
  }

  @Test
  void repairInAnotherEpochIsFound() {
    assertFinds(
        BrokenNodes.RepairsInAnyEpoch.class, "shouldSettleAndRepairInTheEpochOfTheGrantOnly");
  }

  @Test
  void comparisonOfPrefixesIsFound() {
    assertFinds(BrokenNodes.ComparesPrefixes.class, "shouldCompareOwnersExactly");
  }

  @Test
  void comparisonWithoutCaseIsFound() {
    assertFinds(BrokenNodes.IgnoresCaseAndTrailingBlanks.class, "shouldCompareOwnersExactly");
  }

  @Test
  void confirmationForAnybodyIsFound() {
    assertFinds(
        BrokenNodes.ConfirmsForAnybody.class,
        "shouldConfirmOnlyForTheHolderAndNothingBelowTheCounter");
  }

  @Test
  void confirmationOfAnyNumberIsFound() {
    assertFinds(
        BrokenNodes.ConfirmsAnyNumber.class,
        "shouldConfirmOnlyForTheHolderAndNothingBelowTheCounter");
  }

  @Test
  void confirmationThatRefusesTheCountersOwnNumberIsFound() {
    assertFinds(
        BrokenReaders.RefusesAnEqualNumber.class,
        "shouldConfirmOnlyForTheHolderAndNothingBelowTheCounter");
  }

  @Test
  void readersThatEachGetAHigherNumberAreFound() {
    assertFinds(BrokenReaders.RaisesForEachReader.class, "shouldGrantToReadersTogetherByOneNumber");
  }

  @Test
  void confirmationToAReaderBelowItsOwnNumberIsFound() {
    assertFinds(
        BrokenReaders.ConfirmsBelowTheOwnNumber.class,
        "shouldConfirmToAReaderWhatIsNotBelowItsOwnNumber",
        "shouldNotConfirmToAReaderBelowAWriter");
  }

  @Test
  void confirmationToAReaderThatRaisesNothingIsFound() {
    assertFinds(
        BrokenReaders.ConfirmsWithoutRaising.class,
        "shouldConfirmToAReaderWhatIsNotBelowItsOwnNumber");
  }

  @Test
  void readerWithTheNumberOfAWritersGrantIsFound() {
    assertFinds(
        BrokenReaders.JoinsAWritersGrant.class, "shouldGiveNoReaderTheNumberOfAWritersGrant");
  }

  @Test
  void readerWithTheNumberOfAWritersConfirmationIsFound() {
    assertFinds(
        BrokenReaders.JoinsAWritersConfirmation.class,
        "shouldGiveNoReaderTheNumberOfAWritersConfirmation");
  }

  @Test
  void readerWithTheNumberOfARepairIsFound() {
    assertFinds(BrokenReaders.JoinsARepair.class, "shouldGiveNoReaderTheNumberOfARepair");
  }

  @Test
  void repeatedRequestThatRaisesIsFound() {
    assertFinds(
        BrokenNodes.RaisesForARepeatedRequest.class,
        "shouldAnswerARepeatedRequestOfOneOwnerAsTheFirstAndRaiseNothing");
  }

  @Test
  void repeatedRequestThatProlongsIsFound() {
    assertFinds(
        BrokenNodes.ProlongsForARepeatedRequest.class,
        "shouldNotProlongAnEntryWhenItsOwnerAsksAgain");
  }

  @Test
  void severalResourcesTakenOneByOneAreFound() {
    assertFinds(BrokenNodes.TakesSeveralOneByOne.class, "shouldGrantNoneOfSeveralIfOneIsHeld");
  }

  @Test
  void twoStepsInsteadOfOneAreFound() {
    assertFinds(BrokenNodes.LooksBeforeItWrites.class, "shouldGrantToOneOfHundredsWhoAskAtOnce");
  }

  @Test
  void grantOfWhatAnotherHoldsIsFound() {
    assertFinds(
        BrokenNodes.GrantsWhatAnotherHolds.class, "shouldGrantAFreeResourceAndRefuseItToOthers");
  }

  @Test
  void readerBesideAWriterIsFound() {
    assertFinds(BrokenNodes.LetsReadersPassWriters.class, "shouldLetReadersWaitForTheWriter");
  }

  @Test
  void writerBesideReadersIsFound() {
    assertFinds(BrokenNodes.LetsWritersPassReaders.class, "shouldLetAWriterWaitForTheLastReader");
  }

  @Test
  void extensionForAnybodyIsFound() {
    assertFinds(BrokenNodes.ExtendsForAnybody.class, "shouldExtendFromNowOnForTheHolderAlone");
  }

  @Test
  void repairOfWhatAnotherHoldsIsFound() {
    assertFinds(BrokenNodes.RepairsWhatAnotherHolds.class, "shouldNotRepairWhatAnotherHolds");
  }

  @Test
  void repairThatDoesNotRaiseIsFound() {
    assertFinds(
        BrokenNodes.RepairsWithoutRaising.class,
        "shouldRepairWhatIsMissingAndNeverLowerTheCounter");
  }

  @Test
  void repairAtAnyTimeIsFound() {
    assertFinds(
        BrokenNodes.RepairsAtAnyTime.class, "shouldNotRepairAfterTheLastMomentOfItsOwnClock");
  }

  @Test
  void missingEntryWithoutATimeIsFound() {
    assertFinds(BrokenNodes.TellsNoTime.class, "shouldRepairUpToTheLastMomentOfItsOwnClock");
  }

  @Test
  void entryThatEndsEarlyIsFound() {
    assertFinds(BrokenNodes.EndsEntriesEarly.class, "shouldLetAnEntryLiveForItsTtlAndNoLonger");
  }

  @Test
  void voteAfterForgettingIsFound() {
    assertFinds(
        BrokenNodes.VotesAfterForgetting.class,
        "shouldNotVoteAfterItHasForgottenUntilItIsAdmitted");
  }

  @Test
  void ignoredLineIsFound() {
    assertFinds(BrokenNodes.IgnoresTheLine.class, "shouldServeWaitersInTheOrderOfTheirTickets");
  }

  @Test
  void throwAfterCloseIsFound() {
    assertFinds(BrokenNodes.ThrowsAfterClose.class, "shouldAnswerAtOnceWhateverIsAskedAfterClose");
  }

  @Test
  void threadThatIsLeftBehindIsFound() {
    try {
      assertFinds(BrokenNodes.LeavesAThread.class, "shouldLeaveNoThreadAndNoConnection");
    } finally {
      BrokenNodes.LeavesAThread.END.countDown();
    }
  }
}
