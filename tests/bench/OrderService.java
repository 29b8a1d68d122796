/* SPDX-License-Identifier: Apache-2.0 */
/* A web service on an embedded Tomcat and an H2 database in memory, for service.py: GET /order?id=N
 * answers with order N's lines and their sum as JSON.  Usage: OrderService PORT DIRECTORY */
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.startup.Tomcat;
import org.h2.jdbcx.JdbcConnectionPool;

public class OrderService extends HttpServlet {
    private static final int ORDERS = 1000;
    private static final int LINES = 8;

    record Line(int position, String item, int price) {
        String json() {
            return String.format("{\"position\":%d,\"item\":\"%s\",\"price\":%d}", position, item, price);
        }
    }

    private final transient JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:orders", "sa", "");

    @Override
    public void init() throws ServletException {
        try (Connection connection = pool.getConnection()) {
            connection.createStatement().execute(
                "create table line(ordered int, position int, item varchar(40), price int)");
            connection.createStatement().execute("create index by_order on line(ordered)");
            fill(connection);
        } catch (SQLException failure) {
            throw new ServletException(failure);
        }
    }

    private static void fill(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into line values(?, ?, ?, ?)")) {
            for (int row = 0; row < ORDERS * LINES; row++) {
                insert.setInt(1, row / LINES);
                insert.setInt(2, row % LINES);
                insert.setString(3, "item " + row % 313);
                insert.setInt(4, row * 37 % 997);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private List<Line> linesOf(int order) throws SQLException {
        List<Line> lines = new ArrayList<>();
        try (Connection connection = pool.getConnection();
             PreparedStatement query = connection.prepareStatement(
                 "select position, item, price from line where ordered = ? order by position")) {
            query.setInt(1, order);
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next())
                    lines.add(new Line(rows.getInt(1), rows.getString(2), rows.getInt(3)));
            }
        }
        return lines;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
        int order = Integer.parseInt(request.getParameter("id"));
        try {
            List<Line> lines = linesOf(order);
            response.setContentType("application/json");
            response.getWriter().printf("{\"order\":%d,\"lines\":[%s],\"sum\":%d}%n", order,
                String.join(",", lines.stream().map(Line::json).toList()),
                lines.stream().mapToInt(Line::price).sum());
        } catch (SQLException failure) {
            throw new ServletException(failure);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[1]);
        tomcat.setPort(Integer.parseInt(arguments[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "20");
        var context = tomcat.addContext("", arguments[1]);
        Tomcat.addServlet(context, "orders", new OrderService()).setLoadOnStartup(1);
        context.addServletMappingDecoded("/order", "orders");
        tomcat.start();
        tomcat.getServer().await();
    }
}
