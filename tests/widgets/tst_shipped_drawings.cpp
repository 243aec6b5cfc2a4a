// Is every design that ships drawn so that one can read it? Laid out by itself, as Arrange everything leaves it: no
// part over another, no link on another or through a part that is not its own, no link outside of what it belongs to, a
// shape that fits a page.

#include "hardware/files/catalogue.h"
#include "widgets/canvas/scene.h"

#include <bit>
#include <map>
#include <set>
#include <tuple>

using namespace orrery;
using namespace orrery::ui;

namespace {

bool through(const QPolygonF& line, const QRectF& box) {
    const QRectF inside = box.adjusted(1, 1, -1, -1);
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        const QRectF part = QRectF(line[i], line[i + 1]).normalized();
        if (part.left() < inside.right() && part.right() > inside.left() && part.top() < inside.bottom() &&
            part.bottom() > inside.top())
            return true;
    }
    return false;
}

QString nameOf(const Scene& scene, int node) {
    return node < 0 ? QStringLiteral("outside")
                    : QString::fromStdString(orrery::nameOf(*scene.nodes()[std::size_t(node)].component).data());
}

/// The node itself, or one around it.
bool holds(const Scene& scene, int outer, int inner) {
    for (; inner >= 0; inner = scene.nodes()[std::size_t(inner)].parent)
        if (inner == outer) return true;
    return false;
}

/// Parts of one kind and size stand in rows that are all full but the last (two, four, eight: all of them), with their
/// left edges above each other.
QStringList ragged(const Scene& scene, int parent) {
    std::map<std::tuple<int, double, double>, std::map<double, std::vector<double>>> alike;  // lefts by top
    for (const int child : scene.childrenOf(parent)) {
        const auto& node = scene.nodes()[std::size_t(child)];
        if (node.box.isEmpty() || node.hidden || node.component->kind == ComponentKind::Link) continue;
        alike[{int(node.component->kind), node.box.width(), node.box.height()}][node.box.top()].push_back(
            node.box.left());
    }
    QStringList faults;
    for (auto& [what, rows] : alike) {
        std::size_t parts = 0;
        for (auto& [top, lefts] : rows) parts += lefts.size();
        if (parts < 3) continue;
        std::size_t longest = 0, left = rows.size();
        std::set<double> columns;
        for (auto& [top, lefts] : rows) {
            longest = std::max(longest, lefts.size());
            columns.insert(lefts.begin(), lefts.end());
        }
        for (auto& [top, lefts] : rows)
            if ((--left > 0 || std::has_single_bit(parts)) && lefts.size() < longest)
                faults << QStringLiteral("a row of %1 of %2 in %3")
                              .arg(lefts.size())
                              .arg(longest)
                              .arg(nameOf(scene, parent));
        if (columns.size() > longest)
            faults
                << QStringLiteral("%1 columns of %2 in %3").arg(columns.size()).arg(longest).arg(nameOf(scene, parent));
    }
    return faults;
}

/// Links whose way between their ends lies on that of another, where one cannot tell which goes where.
QStringList onOneAnother(const Scene& scene, int parent) {
    const std::vector<int> owned = scene.linksOwnedBy(parent);
    QStringList faults;
    for (const int a : owned)
        for (const int b : owned) {
            if (a == b) continue;
            const QPolygonF &one = scene.links()[std::size_t(a)].line, &two = scene.links()[std::size_t(b)].line;
            for (qsizetype i = 1; i + 2 < one.size(); ++i)
                for (qsizetype k = 1; k + 2 < two.size(); ++k) {
                    const QRectF here = QRectF(one[i], one[i + 1]).normalized();
                    const QRectF there = QRectF(two[k], two[k + 1]).normalized();
                    const bool upright = here.width() == 0;
                    if (upright != (there.width() == 0)) continue;
                    const double away = upright ? here.x() - there.x() : here.y() - there.y();
                    const double shared =
                        upright ? std::min(here.bottom(), there.bottom()) - std::max(here.top(), there.top())
                                : std::min(here.right(), there.right()) - std::max(here.left(), there.left());
                    if (a < b && std::abs(away) < 1.9 && shared > 10)
                        faults << QStringLiteral("%1 and %2 lie on one another for %3 in %4")
                                      .arg(nameOf(scene, scene.links()[std::size_t(a)].node),
                                           nameOf(scene, scene.links()[std::size_t(b)].node))
                                      .arg(shared, 0, 'f', 0)
                                      .arg(nameOf(scene, parent));
                }
        }
    return faults;
}

}  // namespace

class TestShippedDrawings : public QObject {
    Q_OBJECT
private slots:
    void eachIsPresentable_data() {
        QTest::addColumn<QString>("id");
        for (const CatalogueEntry& entry : hardwareCatalogue())
            QTest::newRow(entry.id.c_str()) << QString::fromStdString(entry.id);
    }
    void eachIsPresentable() {
        QFETCH(QString, id);
        const auto loaded = loadHardware(id.toStdString());
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        Scene scene;
        scene.setDesign(std::make_shared<const Hardware>(loaded->hardware), std::make_shared<const Placements>());
        const auto& nodes = scene.nodes();
        QStringList faults;
        for (int parent = 0; parent < int(nodes.size()); ++parent) {
            std::vector<int> parts;
            for (const int child : scene.childrenOf(parent))
                if (!nodes[std::size_t(child)].box.isEmpty() && !nodes[std::size_t(child)].hidden)
                    parts.push_back(child);
            for (std::size_t a = 0; a < parts.size(); ++a) {
                const QRectF& box = nodes[std::size_t(parts[a])].box;
                if (!nodes[std::size_t(parent)].box.contains(box))
                    faults << nameOf(scene, parts[a]) + " sticks out of " + nameOf(scene, parent);
                for (std::size_t b = a + 1; b < parts.size(); ++b)
                    if (box.intersects(nodes[std::size_t(parts[b])].box))
                        faults << nameOf(scene, parts[a]) + " lies over " + nameOf(scene, parts[b]);
            }
            for (const int index : scene.linksOwnedBy(parent)) {
                const SceneLink& link = scene.links()[std::size_t(index)];
                const QString called =
                    QStringLiteral("%1 (%2 to %3)")
                        .arg(nameOf(scene, link.node), nameOf(scene, link.from), nameOf(scene, link.to));
                if (link.line.isEmpty()) continue;
                ++lines_;
                const QRectF around = nodes[std::size_t(parent)].box.adjusted(-1, -1, 1, 1);
                if (!std::ranges::all_of(link.line, [&](const QPointF& at) { return around.contains(at); }))
                    faults << called + " leaves " + nameOf(scene, parent);
                for (const int part : parts) {
                    const bool own = part == link.node || holds(scene, part, link.from) || holds(scene, part, link.to);
                    if (!own && through(link.line, nodes[std::size_t(part)].box))
                        faults << called + " runs through " + nameOf(scene, part);
                }
            }
        }
        for (int parent = 0; parent < int(nodes.size()); ++parent)
            faults += ragged(scene, parent) + onOneAnother(scene, parent);
        const QSizeF size = scene.bounds().size();
        const double shape = size.width() / size.height();
        if (shape < 0.6 || shape > 4) faults << QStringLiteral("is %1 times as wide as high").arg(shape, 0, 'f', 2);
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join("; ")));
    }
    void linksWereLookedAt() { QVERIFY2(lines_ > 50, qPrintable(QString::number(lines_))); }

private:
    int lines_ = 0;
};

QTEST_GUILESS_MAIN(TestShippedDrawings)
#include "tst_shipped_drawings.moc"
