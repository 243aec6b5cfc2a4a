// Controls that go on in a line below where there is no room: in order, none over another, none outside.

#include "widgets/common/flow_layout.h"

#include <QtWidgets>

using namespace orrery::ui;

class TestFlowLayout : public QObject {
    Q_OBJECT
private slots:
    void init() {
        page_ = std::make_unique<QWidget>();
        auto* column = new QVBoxLayout(page_.get());
        auto* head = new QWidget(page_.get());
        auto* row = new FlowLayout(8, head);
        for (int i = 0; i < 8; ++i) {
            auto* button = new QPushButton(QStringLiteral("Button %1").arg(i), head);
            button->setFixedSize(90, 20);
            row->addWidget(button);
            parts_ << button;
            if (i == 3) row->addSpacing(20);
        }
        field_ = new QLineEdit(head);
        auto* group = new QHBoxLayout;
        label_ = new QLabel(QStringLiteral("Field"), head);
        group->addWidget(label_);
        group->addWidget(field_);
        row->addGroup(group);
        parts_ << label_ << field_;
        column->addWidget(head);
        column->addWidget(new QTextEdit(page_.get()), 1);
        page_->show();
        head_ = head;
    }
    void cleanup() {
        parts_.clear();
        page_.reset();
    }

    void linesFollowTheWidth_data() {
        QTest::addColumn<int>("width");
        for (const int width : {1200, 640, 400, 250}) QTest::addRow("%d", width) << width;
    }
    void linesFollowTheWidth() {
        QFETCH(int, width);
        page_->resize(width, 600);
        settle();
        QSet<int> lines;
        for (qsizetype i = 0; i < parts_.size(); ++i) {
            QVERIFY2(head_->rect().contains(parts_[i]->geometry()), qPrintable(QString::number(i)));
            for (qsizetype k = 0; k < i; ++k) QVERIFY(!parts_[i]->geometry().intersects(parts_[k]->geometry()));
            if (i == 0 || i > 7) continue;
            lines << parts_[i]->y();
            const bool after = parts_[i]->x() > parts_[i - 1]->x(), below = parts_[i]->y() > parts_[i - 1]->y();
            QVERIFY(after != below);  // on in the line, or at the start of the next
            if (below) QCOMPARE(parts_[i]->x(), 0);
        }
        const auto across = std::max(1, (head_->width() + 8) / 98);
        QVERIFY(int(lines.size()) >= (8 + across - 1) / across);
        QCOMPARE(label_->geometry().center().y(), field_->geometry().center().y());  // a group stays together
        QCOMPARE(field_->geometry().right(), head_->rect().right());                 // and takes what is left
    }
    // A page that scrolls asks for the least height: that of the lines of its width.
    void theLeastHeightFollows() {
        page_->resize(1200, 600);
        settle();
        const int one = head_->minimumSizeHint().height();
        page_->resize(250, 600);
        settle();
        QVERIFY(head_->minimumSizeHint().height() > 3 * one);
        QVERIFY(head_->minimumSizeHint().width() < 200);
        page_->resize(1200, 600);
        settle();
        QCOMPARE(head_->minimumSizeHint().height(), one);
    }
    void whatIsHiddenTakesNoRoom() {
        page_->resize(640, 600);
        settle();
        const QPoint second = parts_[1]->pos(), third = parts_[2]->pos();
        parts_[1]->hide();
        settle();
        QCOMPARE(parts_[2]->pos(), second);
        parts_[1]->show();
        settle();
        QCOMPARE(parts_[2]->pos(), third);
    }
    void emptiedItIsFilledAnew() {
        auto* row = static_cast<FlowLayout*>(head_->layout());
        row->clear();
        QCOMPARE(row->count(), 0);
        auto* button = new QPushButton(QStringLiteral("Anew"), head_);
        row->addWidget(button);
        settle();
        QVERIFY(button->isVisible());
        QCOMPARE(button->x(), 0);
    }

private:
    static void settle() {
        for (int turn = 0; turn < 4; ++turn) {
            QCoreApplication::processEvents();
            QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        }
    }

    std::unique_ptr<QWidget> page_;
    QWidget* head_ = nullptr;
    QLabel* label_ = nullptr;
    QLineEdit* field_ = nullptr;
    QList<QWidget*> parts_;
};

QTEST_MAIN(TestFlowLayout)
#include "tst_flow_layout.moc"
