import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Table work on the cluster named by the hbase-site.xml on the class path; see cluster.py.
 *
 * <p>It is started once and asked over a socket, as a JVM takes longer to start than most of its work: prints its port,
 * then answers connections on 127.0.0.1. Each sends one line, a command and its arguments by tabs, and gets the output,
 * a line of a zero byte and the exit code, and the text of the error.
 */
public final class HbaseTool {
  private static final HexFormat HEX = HexFormat.of();
  private static final String USAGE = """
      create TABLE COMPRESSION ENCODING SPLITS FAMILY...   SPLITS: hex keys k1,k2,... or '' for none
      tsdb-tables PREFIX COMPRESSION ENCODING [SPLITS]     PREFIX: '' for none; SPLITS: of tsdb
      namespace NAME                                       where it is not there yet
      alter TABLE FAMILY COMPRESSION ENCODING
      drop|truncate TABLE...
      disable|enable TABLE
      list
      count TABLE
      dump TABLE [LIMIT]        row-hex, family, qualifier-hex, timestamp, value-hex; by tabs
      dump-raw TABLE [LIMIT]    all versions and delete markers; cell type as sixth column
      regions TABLE             server, encoded region name, start key in hex
      move REGION [SERVER]      as printed by regions; without SERVER: to some other one
      split TABLE HEX-KEY
      spread TABLE              its regions over all servers in turn
      flush TABLE
      major TABLE               flush + major compaction, waits until one file per store is left
      size TABLE                bytes and number of the store files on disk
      shutdown                  the whole cluster, in order
      wait SECONDS              until a table can be made and dropped""";

  private final Configuration conf;
  private final Connection connection;
  private final Admin admin;
  private final PrintStream out;

  private HbaseTool(Configuration conf, Connection connection, PrintStream out) throws IOException {
    this.conf = conf;
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.out = out;
  }

  public static void main(String[] args) throws IOException {
    try (ServerSocket door = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
      System.out.println(door.getLocalPort());
      System.out.flush();
      while (true) {
        Socket asker = door.accept();
        new Thread(() -> answer(asker)).start();
      }
    }
  }

  private static void answer(Socket asker) {
    try (asker) {
      BufferedReader in = new BufferedReader(
          new InputStreamReader(asker.getInputStream(), StandardCharsets.UTF_8));
      String line = in.readLine();
      if (line == null) {
        return;
      }
      PrintStream out = new PrintStream(
          new BufferedOutputStream(asker.getOutputStream(), 1 << 16), false, StandardCharsets.UTF_8);
      ByteArrayOutputStream trouble = new ByteArrayOutputStream();
      int code = done(line.split("\t", -1), out, new PrintStream(trouble, true, StandardCharsets.UTF_8));
      out.println("\0" + code);
      out.print(trouble.toString(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException e) {
      System.err.println("HbaseTool: " + e);
    }
  }

  /** The exit code. */
  private static int done(String[] args, PrintStream out, PrintStream trouble) {
    try {
      if (args.length == 2 && args[0].equals("wait")) {
        await(Long.parseLong(args[1]), out);
        return 0;
      }
      // A connection of its own, as the cluster's servers come and go.
      Configuration conf = configuration(args[0].equals("shutdown") ? 2 : 40);
      try (Connection connection = ConnectionFactory.createConnection(conf)) {
        new HbaseTool(conf, connection, out).run(args);
      }
      return 0;
    } catch (ArrayIndexOutOfBoundsException | UnsupportedOperationException e) {
      trouble.println("HbaseTool COMMAND ...\n" + USAGE);
      return 2;
    } catch (Exception e) {
      trouble.println("HbaseTool: " + e.toString().lines().findFirst().orElse(""));
      return 1;
    }
  }

  /** A pause far below the default of 100 ms, as the client polls for the end of table work. */
  private static Configuration configuration(int retries) {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt("hbase.client.retries.number", retries);
    conf.setInt("hbase.client.pause", 20);
    return conf;
  }

  private void run(String[] a) throws Exception {
    switch (a[0]) {
      case "create" -> create(a[1], a[2], a[3], a[4], Arrays.copyOfRange(a, 5, a.length));
      case "tsdb-tables" -> tsdbTables(a[1], a[2], a[3], a.length > 4 ? a[4] : "");
      case "namespace" -> namespace(a[1]);
      case "alter" -> alter(TableName.valueOf(a[1]), a[2], a[3], a[4]);
      case "drop" -> {
        for (String name : Arrays.copyOfRange(a, 1, a.length)) {
          drop(TableName.valueOf(name));
        }
      }
      case "truncate" -> {
        for (String name : Arrays.copyOfRange(a, 1, a.length)) {
          admin.disableTable(TableName.valueOf(name));
          admin.truncateTable(TableName.valueOf(name), true);
        }
      }
      case "disable" -> admin.disableTable(TableName.valueOf(a[1]));
      case "enable" -> admin.enableTable(TableName.valueOf(a[1]));
      case "list" -> list();
      case "count" -> count(TableName.valueOf(a[1]));
      case "dump", "dump-raw" -> dump(TableName.valueOf(a[1]), a[0].equals("dump-raw"),
          a.length > 2 ? Long.parseLong(a[2]) : Long.MAX_VALUE);
      case "regions" -> regions(TableName.valueOf(a[1]));
      case "move" -> {
        if (a.length > 2) {
          admin.move(Bytes.toBytes(a[1]), ServerName.valueOf(a[2]));
        } else {
          admin.move(Bytes.toBytes(a[1]));
        }
      }
      case "split" -> split(TableName.valueOf(a[1]), HEX.parseHex(a[2]));
      case "spread" -> spread(TableName.valueOf(a[1]));
      case "flush" -> admin.flush(TableName.valueOf(a[1]));
      case "major" -> majorCompact(TableName.valueOf(a[1]));
      case "size" -> size(TableName.valueOf(a[1]));
      case "shutdown" -> admin.shutdown();
      default -> throw new UnsupportedOperationException(a[0]);
    }
  }

  /** Returns when a table could be created and dropped; throws when that fails for too long. */
  private static void await(long seconds, PrintStream out) throws Exception {
    Configuration conf = configuration(1);
    TableName name = TableName.valueOf("halite-probe");
    long end = System.currentTimeMillis() + seconds * 1000;
    while (true) {
      try (Connection connection = ConnectionFactory.createConnection(conf)) {
        HbaseTool tool = new HbaseTool(conf, connection, out);
        tool.drop(name);
        tool.admin.createTable(TableDescriptorBuilder.newBuilder(name)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of("t")).build());
        tool.drop(name);
        return;
      } catch (IOException e) {
        if (System.currentTimeMillis() > end) {
          throw e;
        }
        Thread.sleep(500);
      }
    }
  }

  private static ColumnFamilyDescriptor family(ColumnFamilyDescriptorBuilder builder,
      String compression, String encoding) {
    return builder.setCompressionType(Compression.Algorithm.valueOf(compression))
        .setDataBlockEncoding(DataBlockEncoding.valueOf(encoding)).build();
  }

  private void create(String name, String compression, String encoding, String splits,
      String... families) throws Exception {
    Future<Void> made = begin(name, compression, encoding, splits, families);
    if (made != null) {
      made.get();
    }
  }

  /** Null: it is there. */
  private Future<Void> begin(String name, String compression, String encoding, String splits,
      String... families) throws IOException {
    TableName table = TableName.valueOf(name);
    if (admin.tableExists(table)) {
      out.println("exists " + name);
      return null;
    }
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    for (String f : families) {
      builder.setColumnFamily(family(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(f)),
          compression, encoding));
    }
    out.println("creating " + name);
    if (splits.isEmpty()) {
      return admin.createTableAsync(builder.build());
    }
    byte[][] keys = Stream.of(splits.split(",")).map(HEX::parseHex).toArray(byte[][]::new);
    return admin.createTableAsync(builder.build(), keys);
  }

  private void tsdbTables(String prefix, String compression, String encoding, String splits)
      throws Exception {
    List<Future<Void>> made = new ArrayList<>();
    made.add(begin(prefix + "tsdb-uid", compression, encoding, "", "id", "name"));
    made.add(begin(prefix + "tsdb", compression, encoding, splits, "t"));
    made.add(begin(prefix + "tsdb-tree", compression, encoding, "", "t"));
    made.add(begin(prefix + "tsdb-meta", compression, encoding, "", "name"));
    for (String rollup : List.of("1m", "1h", "preagg-1m", "preagg-1h")) {
      made.add(begin(prefix + "tsdb-rollup-" + rollup, compression, encoding, "", "t"));
    }
    for (Future<Void> each : made) {
      if (each != null) {
        each.get();
      }
    }
  }

  private void namespace(String name) throws IOException {
    if (Stream.of(admin.listNamespaceDescriptors()).noneMatch(each -> each.getName().equals(name))) {
      admin.createNamespace(NamespaceDescriptor.create(name).build());
    }
  }

  private void alter(TableName table, String name, String compression, String encoding)
      throws IOException {
    ColumnFamilyDescriptor old = admin.getDescriptor(table).getColumnFamily(Bytes.toBytes(name));
    if (old == null) {
      throw new IOException("no family " + name + " in " + table);
    }
    admin.modifyColumnFamily(table,
        family(ColumnFamilyDescriptorBuilder.newBuilder(old), compression, encoding));
  }

  private void drop(TableName table) throws IOException {
    if (!admin.tableExists(table)) {
      return;
    }
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
    admin.deleteTable(table);
  }

  private void list() throws IOException {
    for (TableDescriptor table : admin.listTableDescriptors()) {
      out.print(table.getTableName());
      for (ColumnFamilyDescriptor f : table.getColumnFamilies()) {
        out.print("\t" + f.getNameAsString() + ":" + f.getCompressionType() + ":"
            + f.getDataBlockEncoding());
      }
      out.println();
    }
  }

  private void count(TableName name) throws IOException {
    long rows = 0;
    long cells = 0;
    try (Table table = connection.getTable(name);
        ResultScanner results = table.getScanner(new Scan().setCaching(5000))) {
      for (Result r : results) {
        rows++;
        cells += r.size();
      }
    }
    out.println("rows=" + rows + " cells=" + cells);
  }

  private void dump(TableName name, boolean raw, long limit) throws IOException {
    Scan scan = new Scan().setCaching(1000);
    if (raw) {
      scan.setRaw(true).readAllVersions();
    }
    try (Table table = connection.getTable(name);
        ResultScanner results = table.getScanner(scan)) {
      long left = limit;
      for (Result r : results) {
        for (Cell c : r.rawCells()) {
          if (left-- <= 0) {
            return;
          }
          out.println(hex(c.getRowArray(), c.getRowOffset(), c.getRowLength()) + "\t"
              + Bytes.toString(c.getFamilyArray(), c.getFamilyOffset(), c.getFamilyLength()) + "\t"
              + hex(c.getQualifierArray(), c.getQualifierOffset(), c.getQualifierLength()) + "\t"
              + c.getTimestamp() + "\t"
              + hex(c.getValueArray(), c.getValueOffset(), c.getValueLength())
              + (raw ? "\t" + c.getType() : ""));
        }
      }
    }
  }

  private static String hex(byte[] bytes, int offset, int length) {
    return HEX.formatHex(bytes, offset, offset + length);
  }

  private void regions(TableName table) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      for (HRegionLocation l : locator.getAllRegionLocations()) {
        out.println(l.getServerName() + "\t" + l.getRegion().getEncodedName() + "\t"
            + HEX.formatHex(l.getRegion().getStartKey()));
      }
    }
  }

  private void spread(TableName table) throws Exception {
    List<ServerName> servers = List.copyOf(admin.getRegionServers());
    List<Future<Void>> moves = new ArrayList<>();
    int next = 0;
    try (AsyncConnection async = ConnectionFactory.createAsyncConnection(conf).get();
        RegionLocator locator = connection.getRegionLocator(table)) {
      for (HRegionLocation at : locator.getAllRegionLocations()) {
        ServerName to = servers.get(next++ % servers.size());
        if (!to.equals(at.getServerName())) {
          moves.add(async.getAdmin().move(at.getRegion().getRegionName(), to));
        }
      }
      for (Future<Void> move : moves) {
        move.get();
      }
    }
  }

  private void split(TableName table, byte[] key) throws Exception {
    for (RegionInfo region : admin.getRegions(table)) {
      if (region.containsRow(key)) {
        admin.splitRegionAsync(region.getRegionName(), key).get();
      }
    }
  }

  private void majorCompact(TableName table) throws Exception {
    admin.flush(table);
    admin.majorCompact(table);
    while (admin.getCompactionState(table) != CompactionState.NONE || storeFiles(table).stream()
        .map(Path::getParent).distinct().count() < storeFiles(table).size()) {
      Thread.sleep(200);
    }
  }

  private void size(TableName table) throws IOException {
    long bytes = 0;
    List<Path> files = storeFiles(table);
    for (Path f : files) {
      bytes += Files.size(f);
    }
    out.println("bytes=" + bytes + " files=" + files.size() + " regions="
        + admin.getRegions(table).size());
  }

  /** TABLE/REGION/FAMILY/FILE below hbase.rootdir, a folder of this machine. */
  private List<Path> storeFiles(TableName table) throws IOException {
    Path root = Path.of(URI.create(conf.get("hbase.rootdir")));
    Path dir = root.resolve("data").resolve(table.getNamespaceAsString())
        .resolve(table.getQualifierAsString());
    try (Stream<Path> files = Files.find(dir, 3, (path, attributes) -> attributes.isRegularFile()
        && path.getNameCount() == dir.getNameCount() + 3
        && path.getFileName().toString().matches("[0-9a-f]{32}.*")
        && path.getParent().getFileName().toString().matches("[^.].*"))) {
      return files.toList();
    }
  }
}
