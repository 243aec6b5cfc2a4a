#include "widgets/welcome/welcome_page.h"

#include "widgets/common/label.h"
#include "widgets/welcome/welcome_card.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QGridLayout>
#include <QMimeData>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

constexpr int leftWidth = 264;
constexpr int stackBelow = 760;
constexpr int widest = 1200;

/// The mark: a small planet on its orbit, in the accent.
class Mark : public QWidget {
public:
    explicit Mark(QWidget* parent) : QWidget(parent) {
        setFixedSize(44, 44);
        connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Palette& colours = Theme::instance().colours();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QPointF centre = QRectF(rect()).center();
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colours.line, 1.4));
        painter.drawEllipse(centre, 20, 20);
        painter.setPen(QPen(colours.mutedText, 1.4));
        painter.drawEllipse(centre, 12.5, 12.5);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.accent);
        painter.drawEllipse(centre, 5.5, 5.5);
        painter.drawEllipse(centre + QPointF(14.1, -14.1), 3.6, 3.6);
        painter.setBrush(colours.text);
        painter.drawEllipse(centre + QPointF(-10.8, 6.25), 2.6, 2.6);
    }
};

QStringList localFiles(const QMimeData* data) {
    QStringList files;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

}  // namespace

WelcomePage::WelcomePage(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("welcome"));
    setAccessibleName(tr("Welcome"));
    setAcceptDrops(true);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    scroll_ = new QScrollArea(this);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setWidgetResizable(true);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setFocusPolicy(Qt::NoFocus);
    scroll_->viewport()->setAutoFillBackground(false);
    outer->addWidget(scroll_);
    content_ = new QWidget(scroll_);
    content_->setAutoFillBackground(false);
    columns_ = new QGridLayout(content_);
    columns_->setContentsMargins(40, 40, 40, 32);
    columns_->setHorizontalSpacing(48);
    columns_->setVerticalSpacing(32);
    scroll_->setWidget(content_);

    left_ = new QWidget(content_);
    auto* left = new QVBoxLayout(left_);
    left->setContentsMargins(0, 0, 0, 0);
    left->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(12);
    head->addWidget(new Mark(left_));
    auto* title = new Label(tr("Orrery"), FontRole::Display, Tone::Normal, left_);
    title->setBold(true);
    head->addWidget(title, 1);
    left->addLayout(head);
    left->addSpacing(8);
    auto* claim =
        new Label(tr("How long, how much energy, how much memory, and how certain? Ask many methods at once."),
                  FontRole::Body, Tone::Muted, left_);
    claim->setWordWrap(true);
    left->addWidget(claim);
    left->addSpacing(20);
    auto* draw = new WelcomeLink(QStringLiteral("document-new"), tr("Draw your own"), {}, true, left_);
    draw->setObjectName(QStringLiteral("welcome.new"));
    draw->setToolTip(tr("Start an empty design (Ctrl+N)"));
    connect(draw, &QAbstractButton::clicked, this, &WelcomePage::newRequested);
    left->addWidget(draw);
    auto* open = new WelcomeLink(QStringLiteral("document-open"), tr("Open…"), {}, false, left_);
    open->setObjectName(QStringLiteral("welcome.open"));
    open->setToolTip(tr("Open a project, an ONNX model, a config.json or a YAML file (Ctrl+O)"));
    connect(open, &QAbstractButton::clicked, this, &WelcomePage::openRequested);
    left->addWidget(open);
    auto* lessons = new WelcomeLink(QStringLiteral("help-contents"), tr("Lessons"), {}, false, left_);
    lessons->setObjectName(QStringLiteral("welcome.lessons"));
    lessons->setToolTip(tr("Ten lessons that check themselves, from the roofline to how errors add up"));
    connect(lessons, &QAbstractButton::clicked, this, &WelcomePage::lessonsRequested);
    left->addWidget(lessons);
    left->addSpacing(16);
    left->addWidget(new SectionHeader(tr("Recent"), left_));
    auto* recent = new QWidget(left_);
    recentList_ = new QVBoxLayout(recent);
    recentList_->setContentsMargins(0, 0, 0, 0);
    recentList_->setSpacing(2);
    left->addWidget(recent);
    left->addStretch(1);

    right_ = new QWidget(content_);
    auto* right = new QVBoxLayout(right_);
    right->setContentsMargins(0, 0, 0, 0);
    right->setSpacing(12);
    auto* examples = new Label(tr("Start from an example"), FontRole::Title, Tone::Normal, right_);
    examples->setBold(true);
    right->addWidget(examples);
    gallery_ = new Gallery(right_);
    right->addWidget(gallery_);
    auto* drop =
        new Label(tr("Or drop an ONNX model, a Hugging Face config.json, a hardware YAML or a project anywhere here."),
                  FontRole::Small, Tone::Muted, right_);
    drop->setWordWrap(true);
    right->addWidget(drop);
    right->addStretch(1);
    columns_->addWidget(left_, 0, 0);
    columns_->addWidget(right_, 0, 1);
    columns_->setColumnStretch(1, 1);
    left_->setFixedWidth(leftWidth);
    setRecent({});
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void WelcomePage::setExamples(const std::vector<ExampleCard>& examples) {
    std::vector<ExampleButton*> cards;
    for (const ExampleCard& example : examples) {
        auto* card = new ExampleButton(example, gallery_);
        connect(card, &QAbstractButton::clicked, this, [this, id = example.id] { emit exampleChosen(id); });
        card->installEventFilter(this);
        cards.push_back(card);
    }
    gallery_->setCards(cards);
}

void WelcomePage::setRecent(const std::vector<RecentProject>& recent) {
    while (QLayoutItem* item = recentList_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    if (recent.empty()) {
        auto* none = new Label(tr("Projects that you open are listed here."), FontRole::Small, Tone::Muted, left_);
        none->setWordWrap(true);
        recentList_->addWidget(none);
    }
    int number = 0;
    for (const RecentProject& project : recent) {
        const QFileInfo file(project.file);
        QString folder = file.path();
        if (folder.startsWith(QDir::homePath())) folder.replace(0, QDir::homePath().size(), QStringLiteral("~"));
        const QString detail = !project.exists ? tr("not found") : project.detail.isEmpty() ? folder : project.detail;
        auto* link = new WelcomeLink({}, project.title.isEmpty() ? file.completeBaseName() : project.title, detail,
                                     false, left_);
        link->setObjectName(QStringLiteral("welcome.recent%1").arg(number++));
        link->setToolTip(project.file);
        link->setEnabled(project.exists);
        connect(link, &QAbstractButton::clicked, this, [this, path = project.file] { emit recentChosen(path); });
        recentList_->addWidget(link);
    }
}

void WelcomePage::arrange() {
    const bool stacked = width() < stackBelow;
    if (stacked != stacked_) {
        stacked_ = stacked;
        columns_->removeWidget(right_);
        columns_->addWidget(right_, stacked ? 1 : 0, stacked ? 0 : 1);
        columns_->setColumnStretch(0, stacked ? 1 : 0);
        columns_->setColumnStretch(1, stacked ? 0 : 1);
        left_->setMinimumWidth(stacked ? 0 : leftWidth);
        left_->setMaximumWidth(stacked ? QWIDGETSIZE_MAX : leftWidth);
    }
    const int side = width() < 480 ? 16 : 40;
    const int spare = std::max(0, width() - widest) / 2;
    columns_->setContentsMargins(side + spare, side, side + spare, 32);
}

void WelcomePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void WelcomePage::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().window);
    if (!dropping_) return;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::instance().colours().accent, 2, Qt::DashLine));
    painter.drawRoundedRect(QRectF(rect()).adjusted(8, 8, -8, -8), 8, 8);
}

/// Arrow keys walk through the gallery as the eye does.
bool WelcomePage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto& cards = gallery_->cards();
    const auto found = std::find(cards.begin(), cards.end(), watched);
    if (found == cards.end()) return QWidget::eventFilter(watched, event);
    const auto at = static_cast<int>(found - cards.begin());
    int to = at;
    switch (static_cast<QKeyEvent*>(event)->key()) {
        case Qt::Key_Right:
            to = at + 1;
            break;
        case Qt::Key_Left:
            to = at - 1;
            break;
        case Qt::Key_Down:
            to = at + gallery_->columns();
            break;
        case Qt::Key_Up:
            to = at - gallery_->columns();
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            static_cast<QAbstractButton*>(watched)->click();
            return true;
        default:
            return QWidget::eventFilter(watched, event);
    }
    if (to >= 0 && static_cast<std::size_t>(to) < cards.size()) {
        cards[static_cast<std::size_t>(to)]->setFocus(Qt::TabFocusReason);
        scroll_->ensureWidgetVisible(cards[static_cast<std::size_t>(to)]);
    }
    return true;
}

void WelcomePage::dragEnterEvent(QDragEnterEvent* event) {
    if (localFiles(event->mimeData()).isEmpty()) return;
    dropping_ = true;
    update();
    event->acceptProposedAction();
}

void WelcomePage::dragLeaveEvent(QDragLeaveEvent*) {
    dropping_ = false;
    update();
}

void WelcomePage::dropEvent(QDropEvent* event) {
    dropping_ = false;
    update();
    event->acceptProposedAction();
    emit filesDropped(localFiles(event->mimeData()));
}

}  // namespace orrery::ui
