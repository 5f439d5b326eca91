package dev.lukko.redis.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class ServerFactsTest {
  private static final Instant NOW = Instant.parse("2026-01-31T12:00:00.900Z");
  private static final String INFO =
      String.join(
          "\r\n",
          "# Server",
          "redis_mode:standalone",
          "run_id:abc",
          "uptime_in_seconds:60",
          "",
          "# Memory",
          "maxmemory:0",
          "maxmemory_policy:noeviction",
          "aof_enabled:1",
          "role:master",
          "cluster_enabled:0",
          "");

  private static ServerFacts of(String info, String save, String appendfsync) {
    return ServerFacts.of(info, save, appendfsync, NOW);
  }

  @Test
  void serverThatPersistsEveryWriteHasNothingToReport() {
    ServerFacts facts = of(INFO, "", "always");
    assertThat(facts.run()).isEqualTo("abc");
    assertThat(facts.startedAt()).isEqualTo("2026-01-31T11:59:00Z");
    assertThat(facts.unfit()).isEmpty();
    assertThat(facts.clusterMember()).isFalse();
    assertThat(facts.forgetful()).isFalse();
    assertThat(facts.warnings()).isEmpty();
    assertThat(facts.note()).isEmpty();
  }

  @Test
  void persistenceThatLosesSomethingIsNotedWithWhatItLoses() {
    assertThat(of(INFO, "", "everysec").note()).contains("everysec").contains("latest");
    String noFile = INFO.replace("aof_enabled:1", "aof_enabled:0");
    assertThat(of(noFile, "3600 1", "always").note()).contains("snapshots only").contains("latest");
    assertThat(of(noFile, "", "always").note()).contains("persists nothing").contains("all locks");
    assertThat(of(noFile, "", "always").forgetful()).isTrue();
    assertThat(of(noFile, null, null).note()).contains("does not tell");
    assertThat(of(noFile, null, null).forgetful()).isFalse();
  }

  @Test
  void replicaSentinelAndClusterMemberAreRecognised() {
    String replica = INFO.replace("role:master", "role:slave\r\nmaster_host:db\r\nmaster_port:1");
    assertThat(of(replica, "", "always").unfit()).contains("replica of db:1");
    String sentinel = INFO.replace("standalone", "sentinel").replace("role:master", "x:y");
    assertThat(of(sentinel, null, null).unfit()).contains("Sentinel");
    String cluster = INFO.replace("cluster_enabled:0", "cluster_enabled:1");
    assertThat(of(cluster, "", "always").clusterMember()).isTrue();
  }

  @Test
  void serverThatDoesNotTellWhoItIsIsNotJudged() {
    for (String field : new String[] {"run_id:abc", "uptime_in_seconds:60", "role:master"}) {
      assertThatThrownBy(() -> of(INFO.replace(field, "x:y"), "", "always"))
          .isInstanceOf(NodeFaultException.class)
          .hasMessageContaining("does not tell its " + field.substring(0, field.indexOf(':')));
    }
  }
}
