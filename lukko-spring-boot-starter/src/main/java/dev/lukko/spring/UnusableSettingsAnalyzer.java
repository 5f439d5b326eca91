package dev.lukko.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do in place of a stack trace. */
final class UnusableSettingsAnalyzer extends AbstractFailureAnalyzer<UnusableSettingsException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, UnusableSettingsException cause) {
    return new FailureAnalysis(cause.getMessage(), cause.action(), rootFailure);
  }
}
