#include "widgets/common/result_view.h"

#include "base/text/latex_table.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace orrery::ui {
namespace {

// Fills its view whatever layout that has, so it follows the parent's size itself.
class EmptyPanel : public QWidget {
public:
    explicit EmptyPanel(ResultView* view)
        : QWidget(view), title_(new QLabel), sentence_(new QLabel), button_(new QPushButton) {
        setObjectName(view->id() + QStringLiteral("-empty"));
        setAutoFillBackground(true);
        setBackgroundRole(QPalette::Base);
        title_->setProperty("role", "title");
        title_->setAlignment(Qt::AlignCenter);
        title_->setWordWrap(true);
        sentence_->setProperty("role", "muted");
        sentence_->setAlignment(Qt::AlignCenter);
        sentence_->setWordWrap(true);
        sentence_->setMaximumWidth(420);
        button_->setProperty("primary", true);
        button_->setObjectName(view->id() + QStringLiteral("-empty-action"));
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(16, 8, 16, 8);
        column->addStretch(2);
        column->addWidget(title_);
        auto* row = new QHBoxLayout;
        row->addStretch(1);
        row->addWidget(sentence_, 1000);
        row->addStretch(1);
        column->addLayout(row);
        column->addSpacing(8);
        column->addWidget(button_, 0, Qt::AlignHCenter);
        column->addStretch(3);
        connect(button_, &QPushButton::clicked, view, &ResultView::emptyActionTriggered);
        view->installEventFilter(this);
        setGeometry(view->rect());
    }
    void say(const EmptyState& state) {
        title_->setText(state.title);
        sentence_->setText(state.sentence);
        button_->setText(state.action);
        button_->setAccessibleName(state.action);
        button_->setToolTip(state.action);
        button_->setVisible(!state.action.isEmpty());
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (watched == parent() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
        return QWidget::eventFilter(watched, event);
    }

private:
    QLabel* title_;
    QLabel* sentence_;
    QPushButton* button_;
};

}  // namespace

ResultView::ResultView(QString id, QString title, Selection* selection, QWidget* parent)
    : QWidget(parent), id_(std::move(id)), title_(std::move(title)), selection_(selection), emptyPanel_(nullptr) {
    setObjectName(id_);
    setAccessibleName(title_);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    auto* panel = new EmptyPanel(this);
    emptyPanel_ = panel;
    emptyState_ = {title_, tr("Nothing to show yet."), {}};
    panel->say(emptyState_);
}

void ResultView::setEmptyState(const EmptyState& state) {
    emptyState_ = state;
    EmptyState said = state;
    if (!said.action.isEmpty() && !emptyAction_.isEmpty()) said.action = emptyAction_;
    static_cast<EmptyPanel*>(emptyPanel_)->say(said);
    if (empty_) emptyPanel_->raise();  // above what the view has made since
}

void ResultView::setEmptyAction(const QString& action) {
    if (action == emptyAction_) return;
    emptyAction_ = action;
    setEmptyState(emptyState_);
}

void ResultView::setEmpty(bool empty) {
    empty_ = empty;
    emptyPanel_->setVisible(empty);
    if (empty) emptyPanel_->raise();
}

void ResultView::setSnapshot(SnapshotPtr snapshot) {
    const SnapshotPtr before = std::exchange(snapshot_, std::move(snapshot));
    snapshotChanged(before);
}

void ResultView::paintPicture(QPainter& painter, const QRect& target) {
    painter.save();
    painter.translate(target.topLeft());
    painter.scale(double(target.width()) / std::max(width(), 1), double(target.height()) / std::max(height(), 1));
    render(&painter, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
    painter.restore();
}

QString ResultView::exportTo(const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("csv") || ending == QLatin1String("tex")) {
        const QByteArray table = csv().toUtf8();
        if (table.isEmpty()) return tr("%1 has no data to export.").arg(title_);
        return writeText(file, ending == QLatin1String("csv")
                                   ? table
                                   : QByteArray::fromStdString(latexTable({table.data(), std::size_t(table.size())})));
    }
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), title_,
                            [this](QPainter& painter, const QRect& target) { paintPicture(painter, target); });
    });
}

void ResultView::copyPicture() {
    constexpr int density = 2;
    QImage image(size().expandedTo({1, 1}) * density, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(density);
    image.fill(Theme::instance().colours().surface);
    QPainter painter(&image);
    paintPicture(painter, rect());
    painter.end();
    QApplication::clipboard()->setImage(image);
}

}  // namespace orrery::ui
