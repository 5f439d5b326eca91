package dev.lukko.spring.locked;

import dev.lukko.annotation.KeyExpression;
import dev.lukko.annotation.MethodCall;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;

/** The names of a lock by expressions of Spring's language over the call. */
final class SpelKey implements KeyExpression {
  static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

  private final List<Part> expressions;
  private final BeanFactoryResolver beans;

  /**
   * An expression, and those parts of its text that must be there.
   *
   * @param text the expression as it was written
   * @param whole what gives the names
   * @param operands what is put together to a text
   */
  record Part(String text, Expression whole, List<Expression> operands) {}

  SpelKey(List<Part> expressions, BeanFactory beans) {
    this.expressions = List.copyOf(expressions);
    this.beans = new BeanFactoryResolver(beans);
  }

  @Override
  public List<String> names(MethodCall call) {
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(
            new KeyRoot(call), call.method(), call.arguments(), PARAMETER_NAMES);
    context.setBeanResolver(beans);
    List<String> names = new ArrayList<>();
    for (Part expression : expressions) {
      for (Expression operand : expression.operands()) {
        KeyNames.name(
            expression.text() + ": " + operand.getExpressionString(), operand.getValue(context));
      }
      names.addAll(KeyNames.of(expression.text(), expression.whole().getValue(context)));
    }
    return names;
  }
}
