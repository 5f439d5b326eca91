package dev.lukko.spring.locked;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Reads the expressions of a method's key, and refuses what can never name what was meant. */
final class SpelKeyParser {
  private final SpelExpressionParser parser = new SpelExpressionParser();
  private final BeanFactory beans;

  SpelKeyParser(BeanFactory beans) {
    this.beans = beans;
  }

  /**
   * Reads the expressions.
   *
   * @throws IllegalArgumentException if one cannot be read, or refers to what is not there
   */
  SpelKey parse(List<String> expressions, Method method) {
    if (expressions.isEmpty()) {
      throw new IllegalArgumentException("key has no expression; a lock needs at least one name");
    }
    List<SpelKey.Part> parts = new ArrayList<>();
    for (String text : expressions) {
      SpelExpression whole = read(text);
      requireVariables(text, whole.getAST(), method);
      List<SpelNode> operands = operands(whole.getAST());
      operands.forEach(operand -> requireRootProperty(text, operand));
      parts.add(new SpelKey.Part(text, whole, valuesOfText(operands)));
    }
    return new SpelKey(parts, beans);
  }

  private SpelExpression read(String text) {
    try {
      return parser.parseRaw(text);
    } catch (ParseException | IllegalStateException | IllegalArgumentException malformed) {
      throw new IllegalArgumentException(
          "key is \"" + text + "\"; it must be an expression: " + malformed.getMessage(),
          malformed);
    }
  }

  /** A variable that is not there would be null, and all calls would lock the same name. */
  private static void requireVariables(String text, SpelNode node, Method method) {
    if (node instanceof VariableReference variable) {
      String name = variable.toStringAST().substring(1);
      Set<String> known = variables(method);
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "key is \""
                + text
                + "\"; #"
                + name
                + " is no parameter of the method, which has "
                + known.stream().sorted().toList()
                + " (names of parameters need the compiler's option -parameters)");
      }
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      requireVariables(text, node.getChild(i), method);
    }
  }

  private static Set<String> variables(Method method) {
    Set<String> known = new HashSet<>(Set.of("root", "this"));
    for (int i = 0; i < method.getParameterCount(); i++) {
      known.add("a" + i);
      known.add("p" + i);
    }
    String[] names = SpelKey.PARAMETER_NAMES.getParameterNames(method);
    if (names != null) {
      known.addAll(Arrays.asList(names));
    }
    return known;
  }

  private static void requireRootProperty(String text, SpelNode operand) {
    SpelNode first = operand instanceof CompoundExpression ? operand.getChild(0) : operand;
    if (first instanceof PropertyOrFieldReference property
        && !KeyRoot.PROPERTIES.contains(property.getName())) {
      throw new IllegalArgumentException(
          "key is \""
              + text
              + "\"; "
              + property.getName()
              + " is nothing that the expression knows: a parameter is #"
              + property.getName()
              + ", and a text stands in single quotes");
    }
  }

  private static List<SpelNode> operands(SpelNode node) {
    if (!(node instanceof OpPlus)) {
      return List.of(node);
    }
    List<SpelNode> operands = new ArrayList<>();
    for (int i = 0; i < node.getChildCount(); i++) {
      operands.addAll(operands(node.getChild(i)));
    }
    return operands;
  }

  /** The operands beside a text that are read without any effect. */
  private List<Expression> valuesOfText(List<SpelNode> operands) {
    if (operands.stream().noneMatch(StringLiteral.class::isInstance)) {
      return List.of();
    }
    return operands.stream()
        .filter(SpelKeyParser::isPath)
        .map(operand -> (Expression) parser.parseRaw(operand.toStringAST()))
        .toList();
  }

  private static boolean isPath(SpelNode node) {
    if (!(node instanceof CompoundExpression)) {
      return node instanceof VariableReference || node instanceof PropertyOrFieldReference;
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      if (!isPath(node.getChild(i))) {
        return false;
      }
    }
    return true;
  }
}
