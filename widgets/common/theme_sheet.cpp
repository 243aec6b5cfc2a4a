#include "widgets/common/theme_sheet.h"

#include "widgets/common/theme.h"

namespace orrery::ui {
namespace {

// @name stands for a colour, $8 for that many pixels at the theme's scale.
constexpr const char* sheet = R"(
QMainWindow, QDialog { background: @window; }
QMainWindow::separator { background: @window; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: @accent; }
QSplitter::handle { background: @window; }
QSplitter::handle:hover { background: @accent; }
QSplitter::handle:horizontal { width: 5px; }
QSplitter::handle:vertical { height: 5px; }

QToolTip { background: @raised; color: @text; border: 1px solid @line; padding: $4px $6px; }

QMenuBar { background: @window; color: @text; border-bottom: 1px solid @line; padding: 1px $4px; }
QMenuBar::item { background: transparent; padding: $4px $8px; border-radius: 4px; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @surface; color: @text; border: 1px solid @line; padding: $4px; }
QMenu::item { padding: $5px $24px $5px $8px; border-radius: 4px; }
QMenu::item:selected { background: @selection; color: @text; }
QMenu::item:disabled { color: @disabled; }
QMenu::icon { padding-left: $6px; }
QMenu::separator { height: 1px; background: @faintLine; margin: $4px $4px; }

QToolBar { background: @window; border: none; border-bottom: 1px solid @line; spacing: $4px; padding: $4px $6px; }
QToolBar#pagesToolbar { border: none; border-bottom: 1px solid @line; padding: 0px; margin: 0px; spacing: 0px; }
QToolButton { background: transparent; color: @text; border: 1px solid transparent; border-radius: 4px; padding: $3px $5px; }
QToolButton[small="true"] { font-size: $11px; padding: $2px $6px; }
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @selection; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @disabled; }
QToolButton::menu-indicator { image: none; width: 0px; }
QToolButton[popupMode="1"] { padding-right: $14px; }

QPushButton { background: @surface; color: @text; border: 1px solid @line; border-radius: 4px;
  padding: $4px $12px; min-height: $16px; }
QPushButton:hover { background: @hover; }
QPushButton:pressed, QPushButton:checked { background: @selection; }
QPushButton:focus { border-color: @accent; }
QPushButton:disabled { color: @disabled; background: @window; }
QPushButton:default, QPushButton[primary="true"] { background: @accent; color: @accentText; border-color: @accent; font-weight: 500; }
QPushButton:default:hover, QPushButton[primary="true"]:hover { background: @accentHover; }
QPushButton:default:disabled, QPushButton[primary="true"]:disabled { background: @window; color: @disabled; border-color: @line; }
QPushButton[flat="true"] { background: transparent; border-color: transparent; }
QPushButton[flat="true"]:hover { background: @hover; }
QPushButton[flat="true"]:focus { border-color: @accent; }

QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser { background: @surface; color: @text; border: 1px solid @line;
  border-radius: 4px; selection-background-color: @selection; selection-color: @text; }
QLineEdit { padding: $2px $6px; min-height: $18px; }
QLineEdit:hover { border-color: @mutedLine; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus { border: 1px solid @accent; }
QLineEdit[invalid="true"] { border: 1px solid @bad; }
QLineEdit:read-only { background: @window; }
QLineEdit:disabled { color: @disabled; background: @window; }
QAbstractSpinBox > QLineEdit, QComboBox > QLineEdit { border: none; background: transparent; padding: 0; min-height: 0; }

QGroupBox { border: none; border-top: 1px solid @faintLine; margin-top: $16px; padding-top: $6px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; subcontrol-position: top left; color: @mutedText; }

QTabWidget::pane { border: none; border-top: 1px solid @line; background: @surface; }
QTabBar { background: transparent; qproperty-drawBase: 0; font-size: $13px; }
QTabBar::tab { background: transparent; color: @mutedText; border: none; border-bottom: 2px solid transparent;
  padding: $4px $10px; margin: 0; }
QTabBar::tab:hover { color: @text; background: @hover; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:focus { color: @accent; }

QDockWidget { color: @mutedText; font-size: $11px; font-weight: 600; }
QDockWidget::title { background: @raised; text-align: left; padding: $4px $8px; border-bottom: 1px solid @faintLine; }
QDockWidget::close-button, QDockWidget::float-button { border: none; border-radius: 3px; background: transparent; padding: 0; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: @hover; }

QAbstractItemView { background: @surface; alternate-background-color: @raised; color: @text; border: none; outline: none;
  selection-background-color: @selection; selection-color: @text; gridline-color: @faintLine; }
QAbstractItemView::item { min-height: $20px; padding: 0 $4px; border: none; }
QAbstractItemView::item:hover { background: @hover; }
QAbstractItemView::item:selected { background: @selection; color: @text; }
QAbstractItemView QLineEdit { border-radius: 0; padding: 0 $3px; min-height: 0; }
QComboBox QAbstractItemView { border: 1px solid @line; padding: $2px; }
QHeaderView { background: @raised; border: none; }
QHeaderView::section { background: @raised; color: @mutedText; font-size: $11px; font-weight: 600; border: none;
  border-bottom: 1px solid @line; border-right: 1px solid @faintLine; padding: $4px $6px; }
QHeaderView::section:hover { background: @hover; color: @text; }
QTableCornerButton::section { background: @raised; border: none; border-bottom: 1px solid @line; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: @line; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: @mutedLine; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QSlider:horizontal { min-height: $20px; }
QSlider::groove:horizontal { height: 4px; background: @line; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @surface; border: 2px solid @accent; width: 10px; height: 10px; margin: -5px 0; border-radius: 7px; }
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { background: @accent; }
QSlider::sub-page:horizontal:disabled { background: @mutedLine; }
QSlider::handle:horizontal:disabled { border-color: @mutedLine; }

QProgressBar { background: @faintLine; border: none; border-radius: 3px; color: @text; text-align: center; max-height: $6px; min-height: $6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }

QStatusBar { background: @window; color: @mutedText; border-top: 1px solid @line; }
QStatusBar::item { border: none; }
QLabel { background: transparent; }
QLabel[role="muted"] { color: @mutedText; }
QLabel[role="small"] { color: @mutedText; font-size: $11px; }
QLabel[role="title"] { font-size: $15px; font-weight: 600; }
QLabel[role="display"] { font-size: $24px; font-weight: 600; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="warning"] { color: @warning; }
QLabel[role="good"] { color: @good; }
QFrame[frameShape="4"], QFrame[frameShape="5"] { color: @faintLine; }
*[panel="true"] { background: @surface; }
*[card="true"] { background: @surface; border: 1px solid @line; border-radius: 6px; }
)";

QColor mix(const QColor& a, const QColor& b, double share) {
    return QColor::fromRgbF(float(a.redF() + (b.redF() - a.redF()) * share),
                            float(a.greenF() + (b.greenF() - a.greenF()) * share),
                            float(a.blueF() + (b.blueF() - a.blueF()) * share));
}

}  // namespace

QString styleSheet(const Theme& theme) {
    const Palette& c = theme.colours();
    // Longer names first, so that @accent does not eat the head of @accentText.
    const QList<std::pair<QString, QColor>> tokens = {{"@accentHover", mix(c.accent, c.text, 0.18)},
                                                      {"@accentText", c.accentText},
                                                      {"@mutedLine", mix(c.line, c.mutedText, 0.5)},
                                                      {"@mutedText", c.mutedText},
                                                      {"@faintLine", c.faintLine},
                                                      {"@selection", c.selection},
                                                      {"@disabled", mix(c.mutedText, c.window, 0.45)},
                                                      {"@surface", c.surface},
                                                      {"@warning", c.warning},
                                                      {"@accent", c.accent},
                                                      {"@window", c.window},
                                                      {"@raised", c.raised},
                                                      {"@hover", mix(c.raised, c.text, 0.07)},
                                                      {"@line", c.line},
                                                      {"@text", c.text},
                                                      {"@good", c.good},
                                                      {"@bad", c.bad}};
    QString out = QString::fromUtf8(sheet);
    for (const auto& [token, colour] : tokens) out.replace(token, colour.name());
    QString sized;
    sized.reserve(out.size());
    for (qsizetype i = 0; i < out.size(); ++i) {
        if (out[i] != QLatin1Char('$')) {
            sized += out[i];
            continue;
        }
        int number = 0;
        while (i + 1 < out.size() && out[i + 1].isDigit()) number = number * 10 + out[++i].digitValue();
        sized += QString::number(qRound(number * theme.scale()));
    }
    return sized;
}

}  // namespace orrery::ui
