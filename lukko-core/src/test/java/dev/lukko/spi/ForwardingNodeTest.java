package dev.lukko.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lukko.spi.LockNode.Watch;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ForwardingNodeTest {
  private static final LockEntry ENTRY = LockEntry.exclusive(List.of("r"), "owner");
  private static final Map<Class<?>, Object> ARGUMENTS =
      Map.of(
          String.class,
          "r",
          long.class,
          42L,
          LockEntry.class,
          ENTRY,
          GrantRequest.class,
          new GrantRequest(ENTRY, 30_000, 1),
          FairTicket.class,
          new FairTicket("waiter", 1, 1_000),
          NodeStatus.class,
          NodeStatus.voting("run"),
          FleetChange.class,
          FleetChange.of(
              new FleetRecord("f", 1, 0, List.of(), "s", "r", 0, FleetRecord.UNMARKED), 1),
          Runnable.class,
          (Runnable) () -> {});
  private static final Map<Class<?>, Object> ANSWERS =
      Map.of(
          String.class,
          "behind",
          Set.class,
          Set.of(Capability.FAIR),
          CompletionStage.class,
          new CompletableFuture<>(),
          Watch.class,
          (Watch) () -> {});

  private record Call(Method method, List<Object> arguments) {}

  private final List<Call> calls = new ArrayList<>();
  private final LockNode behind =
      (LockNode)
          Proxy.newProxyInstance(
              LockNode.class.getClassLoader(),
              new Class<?>[] {LockNode.class},
              (proxy, method, arguments) -> {
                calls.add(
                    new Call(method, arguments == null ? List.of() : Arrays.asList(arguments)));
                return ANSWERS.get(method.getReturnType());
              });
  private final ForwardingNode node = new Addition(behind);

  private static final class Addition extends ForwardingNode {
    Addition(LockNode node) {
      super(node);
    }
  }

  static Stream<Method> methodsOfANode() {
    return Arrays.stream(LockNode.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> !method.getName().endsWith("InCaller"));
  }

  @Test
  void verbsInTheCallerComeToThoseThatASubclassMayHaveChanged() {
    List<String> seen = new ArrayList<>();
    ForwardingNode changed =
        new ForwardingNode(behind) {
          @Override
          public CompletionStage<GrantReply> grant(GrantRequest request) {
            seen.add("grant");
            return super.grant(request);
          }

          @Override
          public CompletionStage<ReleaseReply> release(LockEntry entry) {
            seen.add("release");
            return super.release(entry);
          }
        };

    changed.grantInCaller(new GrantRequest(ENTRY, 30_000, 1), 42);
    changed.releaseInCaller(ENTRY, 42);

    assertThat(seen).containsExactly("grant", "release");
    assertThat(calls).extracting(call -> call.method().getName()).isEqualTo(seen);
  }

  @ParameterizedTest
  @MethodSource("methodsOfANode")
  void everyMethodIsHandedOnOnceWithItsArgumentsAndItsAnswer(Method method) throws Exception {
    assertThat(ARGUMENTS.keySet()).containsAll(List.of(method.getParameterTypes()));
    Object[] arguments = Arrays.stream(method.getParameterTypes()).map(ARGUMENTS::get).toArray();

    Object answer = method.invoke(node, arguments);

    assertThat(calls).containsExactly(new Call(method, List.of(arguments)));
    if (method.getReturnType() != void.class) {
      assertThat(answer).isNotNull().isSameAs(ANSWERS.get(method.getReturnType()));
    }
  }

  @Test
  void nodeShowsItsKindAndTheNameOfTheOneBehindIt() {
    assertThat(node).hasToString("Addition[behind]");
  }

  @Test
  void subclassReachesTheNodeBehindIt() {
    assertThat(node.node() == behind).isTrue();
  }
}
