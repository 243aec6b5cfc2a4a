// Is the drawing painted as promised: legible or absent, within what is exposed, the same in every way of asking?
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "widgets/canvas/network_sketch.h"
#include "widgets/canvas/paint_text.h"
#include "widgets/canvas/painter.h"

#include <QDir>
#include <QPainter>
#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::ui;

namespace {

HardwarePtr preset(const char* id) {
    const Expected<LoadedHardware> loaded = loadHardware(id);
    return loaded ? std::make_shared<const Hardware>(loaded->hardware) : nullptr;
}

PaintOptions fitted(const Scene& scene, const QSize& size, double zoom = 0) {
    const QRectF bounds = scene.bounds().adjusted(-24, -24, 24, 24);
    const double scale = zoom > 0 ? zoom : std::min(size.width() / bounds.width(), size.height() / bounds.height());
    PaintOptions options;
    options.transform.translate(size.width() / 2.0, size.height() / 2.0);
    options.transform.scale(scale, scale);
    options.transform.translate(-bounds.center().x(), -bounds.center().y());
    options.exposed = options.transform.inverted().mapRect(QRectF(QPointF(), QSizeF(size)));
    return options;
}

QImage painted(const Scene& scene, const PaintOptions& options, const QSize& size) {
    QImage image(size, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    paintScene(painter, scene, options);
    return image;
}

}  // namespace

class TestCanvasPaint : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }
    void presets_data();
    void presets();
    void textIsLegibleOrAbsent();
    void onlyTheExposedPartIsTouched();
    void partsEqualTheWhole();
    void leftOutIsAbsent();
    void anOpenNetworkIsTheRealOne();
};

// A 4-ary fat tree has 16 hosts, 20 switches and 48 links (Al-Fares et al., SIGCOMM 2008).
void TestCanvasPaint::anOpenNetworkIsTheRealOne() {
    const auto design = readHardware(
        "orrery: hardware/1\nname: Tree\nsystem:\n  children:\n"
        "    - {kind: node, name: host, count: 16}\n    - {kind: topology, name: net, shape: fat-tree, radix: 4}\n");
    QVERIFY(design);
    const auto shown = [&](bool open) {
        Placements places;
        places.at["net"] = {.expanded = open, .placed = false};
        Scene scene;
        scene.setDesign(std::make_shared<const Hardware>(design->hardware), std::make_shared<const Placements>(places));
        return scene;
    };
    const Scene open = shown(true), closed = shown(false);
    const int net = open.find({1});
    const auto network = networkOf(open, net);
    QCOMPARE(network->sketch.ends.size(), 16);
    QCOMPARE(network->sketch.switches.size(), 20);
    QCOMPARE(network->sketch.lines.size(), 48);
    QVERIFY2(network->caption.contains("20 switches"), qPrintable(network->caption));
    const QSizeF large = open.nodes()[std::size_t(net)].box.size(), small = closed.nodes()[std::size_t(net)].box.size();
    QVERIFY(large.width() > small.width() && large.height() > small.height());
    const QSize size(900, 700);
    QVERIFY(painted(open, fitted(open, size), size) != painted(closed, fitted(closed, size), size));
}

void TestCanvasPaint::presets_data() {
    QTest::addColumn<QString>("id");
    for (const char* id : {"h100-sxm", "dgx-h100", "eyeriss-like", "tpu-v4", "mi300a", "epyc-9654", "tpu-v1-like"})
        QTest::newRow(id) << id;
}

// Pictures to look at are written beside the test's other output.
void TestCanvasPaint::presets() {
    QFETCH(QString, id);
    Scene scene;
    scene.setDesign(preset(id.toUtf8()), nullptr);
    QVERIFY(scene.bounds().width() > 100);
    const QDir out(QStringLiteral(ORRERY_TEST_OUTPUT));
    out.mkpath(QStringLiteral("canvas"));
    const QSize size(1200, 760);
    for (const bool dark : {false, true}) {
        Theme::instance().setMode(dark ? Mode::Dark : Mode::Light);
        const QImage image = painted(scene, fitted(scene, size), size);
        image.save(out.filePath(QStringLiteral("canvas/%1%2.png").arg(id, dark ? QStringLiteral("-dark") : QString())));
        QSet<QRgb> colours;
        for (int y = 0; y < image.height(); y += 3) {
            for (int x = 0; x < image.width(); x += 3) colours.insert(image.pixel(x, y));
        }
        QVERIFY2(colours.size() > 20, "nothing but a few fills was painted");
        for (const double zoom : {0.3, 2.0})
            painted(scene, fitted(scene, size, zoom), size)
                .save(out.filePath(QStringLiteral("canvas/%1-at-%2%3.png")
                                       .arg(id)
                                       .arg(zoom)
                                       .arg(dark ? QStringLiteral("-dark") : QString())));
    }
    Theme::instance().setMode(Mode::Light);
}

void TestCanvasPaint::textIsLegibleOrAbsent() {
    const QString text = QStringLiteral("A caption that is rather long");
    for (double pixels = 4; pixels <= 24; pixels += 1) {
        for (double width = 2; width <= 300; width += 7) {
            QImage image(320, 40, QImage::Format_ARGB32_Premultiplied);
            image.fill(Qt::white);
            QPainter painter(&image);
            const QRectF box(10, 5, width, 30);
            const double used = paintLine(painter, box, text, pixels, true, Qt::black);
            painter.end();
            if (pixels < leastText) QCOMPARE(used, 0.0);
            QVERIFY(used <= width + 1e-6);
            for (int x = 0; x < image.width(); ++x) {
                if (x >= 9 && x <= 11 + width) continue;
                for (int y = 0; y < image.height(); ++y)
                    QVERIFY2(qGray(image.pixel(x, y)) > 250,
                             qPrintable(QStringLiteral("%1 px in %2 reach x = %3").arg(pixels).arg(width).arg(x)));
            }
        }
    }
}

void TestCanvasPaint::onlyTheExposedPartIsTouched() {
    Scene scene;
    scene.setDesign(preset("dgx-h100"), nullptr);
    const QSize size(800, 600);
    PaintOptions options = fitted(scene, size);
    const QRect part(200, 150, 240, 180);
    options.exposed = options.transform.inverted().mapRect(QRectF(part));
    const QImage image = painted(scene, options, size);
    int outside = 0;
    int inside = 0;
    for (int y = 0; y < size.height(); ++y) {
        for (int x = 0; x < size.width(); ++x) {
            if (qAlpha(image.pixel(x, y)) == 0) continue;
            (part.contains(x, y) ? inside : outside) += 1;
        }
    }
    QCOMPARE(outside, 0);
    QCOMPARE(inside, part.width() * part.height());
}

// Repainting a part gives the pixels that painting everything gives there.
void TestCanvasPaint::partsEqualTheWhole() {
    const QSize size(800, 600);
    for (const char* id : {"dgx-h100", "eyeriss-like", "mi300a"}) {
        Scene scene;
        scene.setDesign(preset(id), nullptr);
        PaintOptions options = fitted(scene, size);
        const QImage whole = painted(scene, options, size);
        QImage parts(size, QImage::Format_ARGB32_Premultiplied);
        parts.fill(Qt::transparent);
        QPainter painter(&parts);
        for (int y = 0; y < size.height(); y += 200) {
            for (int x = 0; x < size.width(); x += 160) {
                PaintOptions one = options;
                one.exposed = options.transform.inverted().mapRect(QRectF(x, y, 160, 200));
                paintScene(painter, scene, one);
            }
        }
        painter.end();
        int different = 0;
        for (int y = 0; y < size.height(); ++y) {
            for (int x = 0; x < size.width(); ++x) different += whole.pixel(x, y) != parts.pixel(x, y);
        }
        QVERIFY2(different <= size.width() * size.height() / 2000,
                 qPrintable(QStringLiteral("%1: %2 pixels differ").arg(id).arg(different)));
    }
}

void TestCanvasPaint::leftOutIsAbsent() {
    Scene scene;
    scene.setDesign(preset("eyeriss-like"), nullptr);
    const QSize size(800, 600);
    PaintOptions options = fitted(scene, size);
    options.grid = false;
    const int dram = scene.find({0});
    options.leftOut = {dram};
    const QImage image = painted(scene, options, size);
    const QRect hole = options.transform.mapRect(scene.nodes()[static_cast<std::size_t>(dram)].box)
                           .toAlignedRect()
                           .adjusted(2, 2, -2, -2);
    const QRgb ground = image.pixel(hole.topLeft());
    for (int y = hole.top(); y <= hole.bottom(); ++y) {
        for (int x = hole.left(); x <= hole.right(); ++x) QCOMPARE(image.pixel(x, y), ground);
    }
}

QTEST_MAIN(TestCanvasPaint)
#include "tst_canvas_paint.moc"
